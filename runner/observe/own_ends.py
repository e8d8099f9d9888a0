"""Which requests the client had ended itself, so that what the server says of them is no fault."""

from collections.abc import Mapping
from dataclasses import dataclass

OWN_END_TOLERANCE_S = 2.0


@dataclass(frozen=True, slots=True)
class OwnEnds:
    """Requests whose session the client had ended itself: id -> when, in the log's own time.

    None for `ends`: nobody knows. A time of None: at some time.
    """

    ends: Mapping[str, float | None] | None = None

    def did_end(self, request: str, at_s: float | None) -> bool:
        if self.ends is None or request not in self.ends:
            return False
        ended_s = self.ends[request]
        return ended_s is None or at_s is None or at_s >= ended_s - OWN_END_TOLERANCE_S

    def knows(self) -> bool:
        return bool(self.ends)
