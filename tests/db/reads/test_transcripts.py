"""Turns of paired sessions."""

from pathlib import Path

from db.reads.transcripts import (
    paired_turns,
    pairs_of_runs,
    response_of_turn,
    turn_moments,
    turns_of_sessions,
)
from db.vocabulary import Outcome
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session
from tests.db.fresh_stores import fresh_store


def test_only_dialogues_that_both_runs_played_are_paired(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        arms = stored_campaign(store).arms
        a, b = (stored_run(store, arm) for arm in arms[:2])
        for index in (0, 1):
            stored_session(store, a, Outcome.LEAK, index=index, decisive_turn=0)
        stored_session(store, b, index=0)
        stored_session(store, b, index=1, dialogue_key="another")

        with store.session() as session:
            connection = session.connection()
            pairs = pairs_of_runs(connection, stored_id(a), stored_id(b))
            (paired,) = paired_turns(connection, pairs)

        assert [pair.session_index for pair in pairs] == [0]
        assert (paired.pair.a_outcome, paired.pair.a_decisive_turn) == ("leak", 0)
        assert [len(paired.a), len(paired.b)] == [1, 2]


def test_moments_say_when_each_turn_was_and_whose_it_was(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        run = stored_run(store, stored_campaign(store).arms[0])
        stored_session(store, run, Outcome.LEAK, index=3, decisive_turn=0)
        stored_session(store, run, index=1)

        with store.session() as session:
            moments = turn_moments(session.connection(), [stored_id(run)])
            few = turn_moments(session.connection(), [stored_id(run)], limit=2)

        assert [(m.session_index, m.turn_index, m.outcome) for m in moments] == [
            (1, 0, "done"),
            (1, 1, "done"),
            (3, 0, "leak"),
        ]
        assert moments[0].ended_at_us - moments[0].started_at_us == 1_000_000
        assert few == moments[:2]


def test_what_is_not_there_is_empty(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store, store.session() as session:
        connection = session.connection()

        assert pairs_of_runs(connection, 1, 2) == []
        assert turns_of_sessions(connection, [7]) == {}
        assert response_of_turn(connection, 7) is None
