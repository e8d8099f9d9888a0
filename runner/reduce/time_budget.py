"""The time that was given to a reduction; each of its runs gets what is left of it."""

import time
from collections.abc import Callable


class TimeBudget:
    """`budget_s` None: without end."""

    def __init__(
        self, budget_s: float | None, *, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._now_s = now_s
        self._until_s = None if budget_s is None else now_s() + budget_s

    @property
    def left_s(self) -> float | None:
        return None if self._until_s is None else self._until_s - self._now_s()

    @property
    def is_spent(self) -> bool:
        left_s = self.left_s
        return left_s is not None and left_s <= 0
