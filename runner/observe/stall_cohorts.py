"""Sessions that stood still and were released at the same moment: they waited for one thing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import sub
from typing import Any

from runner.observe.request_ids import session_index_of

LEAST_STALL_S = 5.0
LEAST_SILENCE_S = 1.0
TOGETHER_S = 0.050


@dataclass(frozen=True, slots=True)
class Stall:
    """A pause in one answer, from its last sign of life to the next, in UTC seconds."""

    request_id: str
    began_s: float
    released_s: float


@dataclass(frozen=True, slots=True)
class StallCohort:
    """At least two stalls that ended within 50 ms of one another."""

    stalls: tuple[Stall, ...]

    def to_json(self) -> dict[str, Any]:
        released = [stall.released_s for stall in self.stalls]
        indices = {session_index_of(stall.request_id) for stall in self.stalls}
        return {
            "requests": [stall.request_id for stall in self.stalls],
            "session_indices": sorted(index for index in indices if index is not None),
            "released_at_us": round(min(released) * 1e6),
            "spread_ms": round((max(released) - min(released)) * 1e3, 1),
            "longest_s": round(max(s.released_s - s.began_s for s in self.stalls), 3),
        }


def stalls_of_reads(
    request_id: str,
    sent_s: float,
    reads_at_s: Sequence[float],
    *,
    least_s: float = LEAST_STALL_S,
) -> list[Stall]:
    """`reads_at_s` are seconds since the request; the wait for the first one counts."""
    moments = [0.0, *reads_at_s]
    if max(map(sub, moments[1:], moments), default=0.0) < least_s:  # of nearly every answer
        return []
    return [
        Stall(request_id, sent_s + before, sent_s + after)
        for before, after in pairwise(moments)
        if after - before >= least_s
    ]


def silences_of_answer(
    request_id: str, sent_s: float, reads_at_s: Sequence[float], ended_s: float | None
) -> list[Stall]:
    """Like `stalls_of_reads`, with the wait at the end of an answer that never went on."""
    last = () if ended_s is None else (ended_s,)
    return stalls_of_reads(request_id, sent_s, (*reads_at_s, *last), least_s=LEAST_SILENCE_S)


def stall_cohorts(
    stalls: Iterable[Stall], *, together_s: float = TOGETHER_S
) -> tuple[StallCohort, ...]:
    """Groups of two or more; each begins with its earliest release and spans at most 50 ms."""
    cohorts: list[StallCohort] = []
    group: list[Stall] = []
    for stall in sorted(stalls, key=lambda each: each.released_s):
        if group and stall.released_s - group[0].released_s > together_s:
            cohorts.extend(_cohort(group))
            group = []
        group.append(stall)
    cohorts.extend(_cohort(group))
    return tuple(cohorts)


def _cohort(group: Sequence[Stall]) -> list[StallCohort]:
    return [StallCohort(tuple(group))] if len({each.request_id for each in group}) > 1 else []
