"""A session laid out on the clock of its run: its turns as bars, its end as a mark; pure."""

from collections.abc import Sequence

from app.figures.timeline import Mark, TurnBar
from app.wording import SECOND_US, outcome_word
from db.reads.sessions import SessionFacts, TurnFacts
from db.vocabulary import Outcome, OutcomeClass


def turn_bars(turns: Sequence[TurnFacts], *, origin_us: int) -> list[TurnBar]:
    return [_turn_bar(turn, origin_us) for turn in turns]


def end_mark(session: SessionFacts, turns: Sequence[TurnFacts], *, origin_us: int) -> Mark | None:
    """Where the turn that decided the session ended; None for a clean session."""
    decisive = [turn for turn in turns if turn.turn_index == session.decisive_turn]
    if not decisive or Outcome(session.outcome).outcome_class is OutcomeClass.CLEAN:
        return None
    end_s = (decisive[0].started_at_us - origin_us) / SECOND_US + decisive[0].duration_s
    return Mark(end_s, outcome_word(session.outcome))


def class_of_turn(turn: TurnFacts) -> OutcomeClass:
    """A turn without an outcome of its own was right."""
    return Outcome(turn.outcome).outcome_class if turn.outcome else OutcomeClass.CLEAN


def _turn_bar(turn: TurnFacts, origin_us: int) -> TurnBar:
    wait_s = turn.duration_s if turn.first_token_s is None else turn.first_token_s
    return TurnBar(
        label=f"turn {turn.turn_index + 1}",
        start_s=(turn.started_at_us - origin_us) / SECOND_US,
        wait_s=min(wait_s, turn.duration_s),
        stream_s=max(0.0, turn.duration_s - wait_s),
        outcome_class=class_of_turn(turn),
        note=outcome_word(turn.outcome or turn.reading),
    )
