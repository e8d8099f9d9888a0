"""Which kinds of log event stand near a turn: within it, or shortly before it; pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from db.reads.failures import LogMoment

BEFORE_S = 5.0
"""Whatever a service logs this long before a turn began still counts as near it."""


class NearbyEvents:
    """An event that names a request is near the turns of that request alone."""

    def __init__(self, events: Sequence[LogMoment]) -> None:
        self._of_request: dict[tuple[int, str], set[str]] = {}
        self._moments: dict[tuple[int, str], list[int]] = {}
        self._kinds: dict[int, set[str]] = {}
        for event in events:
            if event.request_ref:
                named = self._of_request.setdefault((event.run_id, event.request_ref), set())
                named.add(event.kind)
            else:
                self._moments.setdefault((event.run_id, event.kind), []).append(event.at_us)
                self._kinds.setdefault(event.run_id, set()).add(event.kind)
        for moments in self._moments.values():
            moments.sort()

    def kinds_at(
        self, run_id: int, started_at_us: int, duration_s: float, request_id: str
    ) -> frozenset[str]:
        begin = started_at_us - round(BEFORE_S * 1_000_000)
        end = started_at_us + round(duration_s * 1_000_000)
        near = {
            kind
            for kind in self._kinds.get(run_id, ())
            if self._is_any_within(self._moments[run_id, kind], begin, end)
        }
        return frozenset(near | self._of_request.get((run_id, request_id), set()))

    @staticmethod
    def _is_any_within(moments: Sequence[int], begin: int, end: int) -> bool:
        return bisect_left(moments, begin) < bisect_right(moments, end)
