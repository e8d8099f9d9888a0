"""Stored turns, wedges and log events as the test of linked faults takes them; pure."""

from collections.abc import Sequence

import numpy as np

from db.reads.failures import LogMoment, WedgeMoment
from db.reads.transcripts import TurnMoment
from db.vocabulary import Outcome, OutcomeClass
from runner.evidence.linked_faults import Disturbance, Linkage, PlayedTurn, link_faults

DISTURBING_CLASSES = ("wedge", "abort", "crash")

_SECOND_US = 1_000_000
_SEED = 1


def linkage_of(
    turns: Sequence[TurnMoment],
    events: Sequence[LogMoment],
    wedges: Sequence[WedgeMoment],
    *,
    corrupt: Sequence[str],
) -> Linkage:
    """Events that we caused by our own cancelling are to be left out before.

    Of a session the turns count up to the one in which it went corrupt. A turn that brought no
    answer gives no evidence of corruption and stands near a stall by its nature: it is left out.
    """
    played = [each for turn in turns if (each := _played(turn, corrupt)) is not None]
    found = [_event(event) for event in events if event.event_class in DISTURBING_CLASSES]
    ends = {turn.run: turn.end_s for turn in sorted(played, key=lambda turn: turn.end_s)}
    found += [_span(wedge, ends) for wedge in wedges]
    return link_faults(played, found, rng=np.random.default_rng(_SEED))


def is_at_risk(turn: TurnMoment) -> bool:
    """Its session had not failed before it."""
    return turn.decisive_turn is None or turn.turn_index <= turn.decisive_turn


def decides(turn: TurnMoment) -> bool:
    return turn.turn_index == turn.decisive_turn


def _played(turn: TurnMoment, corrupt: Sequence[str]) -> PlayedTurn | None:
    silent = Outcome(turn.outcome).outcome_class in (OutcomeClass.SILENT, OutcomeClass.OURS)
    if not is_at_risk(turn) or (silent and decides(turn)):
        return None
    return PlayedTurn(
        run=str(turn.run_id),
        number=turn.turn_index,
        start_s=turn.started_at_us / _SECOND_US,
        end_s=turn.ended_at_us / _SECOND_US,
        is_corrupt=decides(turn) and turn.outcome in corrupt,
    )


def _event(event: LogMoment) -> Disturbance:
    at_s = event.at_us / _SECOND_US
    return Disturbance(str(event.run_id), at_s, at_s)


def _span(wedge: WedgeMoment, run_ends_s: dict[str, float]) -> Disturbance:
    """One without an end lasted to the end of its run."""
    run, start_s = str(wedge.run_id), wedge.started_at_us / _SECOND_US
    end_s = run_ends_s.get(run, start_s) if wedge.ended_at_us is None else None
    return Disturbance(run, start_s, max(start_s, end_s or (wedge.ended_at_us or 0) / _SECOND_US))
