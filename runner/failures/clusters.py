"""Failures that look alike, with where and when they came and what had been logged before; pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from db.reads.failures import FailingTurn, LogMoment
from runner.failures.nearby_events import NearbyEvents
from runner.failures.signature import Signature, signature_of, tool_due

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class FailureCluster:
    """`first_at_us`, `last_at_us`: starts of the turns that failed; None where none is known, as of
    imported ones.

    The counts are of sessions: by arm, by turn (from zero), by tool that was due, by kind of log
    event within the turn or shortly before it. `examples` are session ids, of several runs first.
    """

    signature: Signature
    sessions: int
    runs: int
    first_at_us: int | None
    last_at_us: int | None
    by_arm: dict[str, int]
    by_turn: dict[int, int]
    by_tool: dict[str, int]
    by_event: dict[str, int]
    examples: tuple[int, ...]


def cluster_failures(
    failing: Sequence[FailingTurn],
    *,
    arm_of_run: Mapping[int, str],
    events: Sequence[LogMoment] = (),
) -> tuple[FailureCluster, ...]:
    """The largest cluster first."""
    nearby = NearbyEvents(events)
    groups: dict[Signature, list[FailingTurn]] = {}
    for each in failing:
        groups.setdefault(signature_of(each.outcome, each.turn), []).append(each)
    clusters = [_cluster(signature, few, arm_of_run, nearby) for signature, few in groups.items()]
    return tuple(sorted(clusters, key=lambda each: (-each.sessions, each.signature)))


def _cluster(
    signature: Signature,
    failing: Sequence[FailingTurn],
    arm_of_run: Mapping[int, str],
    nearby: NearbyEvents,
) -> FailureCluster:
    turns = [each.turn for each in failing]
    moments = [turn.started_at_us for turn in turns if turn.started_at_us > 0]
    kinds = [
        kind
        for each in failing
        for kind in nearby.kinds_at(
            each.run_id, each.turn.started_at_us, each.turn.duration_s, each.turn.request_id
        )
    ]
    return FailureCluster(
        signature=signature,
        sessions=len(failing),
        runs=len({each.run_id for each in failing}),
        first_at_us=min(moments, default=None),
        last_at_us=max(moments, default=None),
        by_arm=dict(Counter(arm_of_run[each.run_id] for each in failing).most_common()),
        by_turn=dict(sorted(Counter(turn.turn_index for turn in turns).items())),
        by_tool=dict(Counter(name for turn in turns if (name := tool_due(turn))).most_common()),
        by_event=dict(Counter(kinds).most_common()),
        examples=_examples(failing),
    )


def _examples(failing: Sequence[FailingTurn]) -> tuple[int, ...]:
    firsts = {each.run_id: each.session_id for each in reversed(failing)}
    spread = [firsts[run] for run in sorted(firsts)]
    rest = [each.session_id for each in failing if each.session_id not in spread]
    return tuple((spread + rest)[:_EXAMPLES])
