from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select

from db.errors import RowMissingError
from db.judgements import (
    RecordedSession,
    SessionJudgement,
    TurnJudgement,
    recorded_sessions,
    recorded_turn,
    rewrite_judgements,
)
from db.read_times import ReadTimes
from db.store import Store
from db.tables.runs import RunRow
from db.tables.sessions import SessionRow, TurnRow
from db.vocabulary import Outcome, TurnReading
from tests.db.factories import refreshed_run, stored_campaign, stored_id, stored_run, stored_session
from tests.db.unstored_rows import LEAKED_TURNS, TurnSpec

DB_FOLDER = Path(__file__).parents[2] / "db"


@pytest.fixture
def run(store: Store) -> RunRow:
    """Five sessions: two leaked, one in error, two done."""
    counts = {Outcome.LEAK: 2, Outcome.ERROR: 1, Outcome.DONE: 2}
    return stored_run(store, stored_campaign(store).arms[0], counts=counts, with_turns=True)


def judged_as(recorded: RecordedSession, outcome: Outcome) -> SessionJudgement:
    """A judgement that changes every judged column."""
    return SessionJudgement(
        session_id=stored_id(recorded.session),
        outcome=outcome,
        reason="a new reason",
        detail="a new detail",
        flags=("garbled",),
        decisive_turn=0,
        rounds_completed=2,
        judge_version="2",
        turns=[
            TurnJudgement(
                turn_id=stored_id(each.turn),
                reading=TurnReading.NO_TOOL,
                outcome=outcome,
                reason=None,
                detail="nothing came",
                flags=["garbled"],
                markup=[{"start": 1, "end": 2}],
                got={"content": "read anew"},
                finish_reason="length",
                first_token_s=0.5,
                last_progress_s=0.75,
            )
            for each in recorded.turns
        ],
    )


def test_the_record_of_a_run_is_read_with_its_bytes(store: Store) -> None:
    run = stored_run(store, stored_campaign(store).arms[0])
    stored_session(store, run, index=1)
    stored_session(store, run, Outcome.LEAK, index=0, turns=(TurnSpec(response=b"\x00raw"),))

    first, second = recorded_sessions(store, stored_id(run))

    assert [each.session.session_index for each in (first, second)] == [0, 1]
    assert first.turns[0].response == b"\x00raw"
    assert first.turns[0].reads == ReadTimes((0.2,), (4,))
    assert first.turns[0].request == b'{"messages": []}'
    assert not first.turns[0].is_capped
    assert [each.turn.turn_index for each in second.turns] == [0, 1]


def test_a_single_turn_can_be_read(store: Store, run: RunRow) -> None:
    session = next(iter(recorded_sessions(store, stored_id(run))))

    recorded = recorded_turn(store, stored_id(session.turns[0].turn))

    assert recorded.response == b"data: [DONE]\n\n"
    with pytest.raises(RowMissingError):
        recorded_turn(store, 999)


def test_judging_again_rewrites_what_was_judged_and_nothing_else(store: Store, run: RunRow) -> None:
    before = next(iter(recorded_sessions(store, stored_id(run))))

    rewrite_judgements(store, stored_id(run), [judged_as(before, Outcome.NO_TOOL)])

    after = next(iter(recorded_sessions(store, stored_id(run))))
    assert changed(before.session, after.session) == {
        "outcome",
        "reason",
        "detail",
        "flags",
        "decisive_turn",
        "rounds_completed",
        "judge_version",
    }
    assert changed(before.turns[0].turn, after.turns[0].turn) == {
        "reading",
        "outcome",
        "detail",
        "flags",
        "markup",
        "got",
        "finish_reason",
        "first_token_s",
        "last_progress_s",
    }
    assert after.turns[0].response == before.turns[0].response


def test_the_counters_of_the_run_follow_its_sessions(store: Store, run: RunRow) -> None:
    recorded = list(recorded_sessions(store, stored_id(run)))
    assert (run.n_leak, run.n_error, run.n_done) == (2, 1, 2)

    judgements = [judged_as(each, Outcome.DEGENERATE) for each in recorded[:3]]
    rewrite_judgements(store, stored_id(run), judgements)

    counted = refreshed_run(store, run)
    counts = {outcome: getattr(counted, f"n_{outcome}") for outcome in Outcome}
    assert {outcome: n for outcome, n in counts.items() if n} == {
        Outcome.DEGENERATE: 3,
        Outcome.DONE: 2,
    }
    assert counted.n_ended == 5


def test_all_is_rewritten_or_nothing(store: Store, run: RunRow) -> None:
    first, second, *_ = recorded_sessions(store, stored_id(run))
    wrong_turn = replace(
        judged_as(second, Outcome.WRONG), turns=judged_as(first, Outcome.WRONG).turns
    )

    with pytest.raises(RowMissingError, match="s-2 has no turn 1; nothing was rewritten"):
        rewrite_judgements(store, stored_id(run), [judged_as(first, Outcome.WRONG), wrong_turn])

    with store.session() as session:
        outcomes = session.exec(select(SessionRow.outcome).order_by("id")).all()
        readings = set(session.exec(select(TurnRow.reading)))
    assert outcomes == ["leak", "leak", "error", "done", "done"]
    assert "no_tool" not in readings
    assert refreshed_run(store, run).n_leak == 2


def test_a_session_of_another_run_is_not_rewritten(store: Store, run: RunRow) -> None:
    arm = stored_campaign(store, name="other").arms[0]
    other = stored_run(store, arm)
    stored_session(store, other, Outcome.LEAK, turns=LEAKED_TURNS)
    (foreign,) = recorded_sessions(store, stored_id(other))

    with pytest.raises(RowMissingError, match="Run r-1 has no session s-6"):
        rewrite_judgements(store, stored_id(run), [judged_as(foreign, Outcome.DONE)])


def test_one_module_alone_updates_sessions_and_turns() -> None:
    writers = {
        path.name
        for path in DB_FOLDER.rglob("*.py")
        if any(f"update({row}" in path.read_text() for row in ("SessionRow", "TurnRow"))
    }

    assert writers == {"judgements.py"}


def changed(before: SessionRow | TurnRow, after: SessionRow | TurnRow) -> set[str]:
    one, other = before.model_dump(), after.model_dump()
    return {name for name in one if one[name] != other[name]}
