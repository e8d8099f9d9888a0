"""Which kinds of log event stand near failing turns more often than near others; pure.

A turn that failed its session is held against the turns of one number in one run, as in
`runner.difference.divergence_pattern`; the p-values of all kinds are adjusted together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from db.reads.failures import LogMoment
from db.reads.transcripts import TurnMoment
from runner.evidence.multiplicity import benjamini_hochberg
from runner.evidence.stratified_exact import Association, Stratum, stratified_association
from runner.failures.disturbances import decides, is_at_risk
from runner.failures.nearby_events import NearbyEvents


@dataclass(frozen=True, slots=True)
class EnrichedEvent:
    """How many failing turns, and how many others, have an event of the kind near them.

    `adjusted_p` is by Benjamini and Hochberg over all kinds of event that were looked at.
    """

    kind: str
    event_class: str
    failing_near: int
    failing: int
    others_near: int
    others: int
    association: Association
    adjusted_p: float


@dataclass(frozen=True, slots=True)
class _Row:
    stratum: tuple[int, int]
    failed: bool
    kinds: frozenset[str]


def enriched_events(
    turns: Sequence[TurnMoment], events: Sequence[LogMoment], *, failing: Sequence[str]
) -> tuple[EnrichedEvent, ...]:
    """`failing` are the outcomes that are asked about. The smallest p first."""
    nearby = NearbyEvents(events)
    rows = [
        _Row(
            stratum=(turn.run_id, turn.turn_index),
            failed=decides(turn) and turn.outcome in failing,
            kinds=nearby.kinds_at(
                turn.run_id, turn.started_at_us, turn.duration_s, turn.request_id
            ),
        )
        for turn in turns
        if is_at_risk(turn) and (not decides(turn) or turn.outcome in failing)
    ]
    if not any(row.failed for row in rows):
        return ()
    class_of = {event.kind: event.event_class for event in events}
    kinds = sorted({kind for row in rows for kind in row.kinds})
    found = [stratified_association(_strata(rows, kind)) for kind in kinds]
    adjusted = benjamini_hochberg([each.p_more for each in found])
    ours, others = ([row for row in rows if row.failed is failed] for failed in (True, False))
    enriched = [
        EnrichedEvent(
            kind=kind,
            event_class=class_of[kind],
            failing_near=_near(ours, kind),
            failing=len(ours),
            others_near=_near(others, kind),
            others=len(others),
            association=association,
            adjusted_p=p,
        )
        for kind, association, p in zip(kinds, found, adjusted, strict=True)
    ]
    return tuple(sorted(enriched, key=lambda each: (each.association.p_more, each.kind)))


def _near(rows: Iterable[_Row], kind: str) -> int:
    return sum(kind in row.kinds for row in rows)


def _strata(rows: Sequence[_Row], kind: str) -> list[Stratum]:
    by_stratum: dict[tuple[int, int], list[_Row]] = {}
    for row in rows:
        by_stratum.setdefault(row.stratum, []).append(row)
    return [
        Stratum(
            events_with=sum(row.failed and kind in row.kinds for row in few),
            events=sum(row.failed for row in few),
            with_trait=_near(few, kind),
            total=len(few),
        )
        for few in by_stratum.values()
    ]
