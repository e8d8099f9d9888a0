"""How long a search may look; the clock is an argument, so that tests can stop it."""

from collections.abc import Callable


class TimeCap:
    """Spent once `seconds` have passed since it was made."""

    def __init__(self, seconds: float, *, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._until_s = monotonic_s() + seconds

    @property
    def is_spent(self) -> bool:
        return self._monotonic_s() >= self._until_s
