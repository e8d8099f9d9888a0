"""Sentences that a campaign leaves in the store while it runs, from real runs."""

from pathlib import Path

import pytest

from db.reads.live_evidence import EvidenceSoFar, OpenRun, evidence_so_far, open_runs
from db.store import open_store
from runner.execute.live_evidence import progress_of
from runner.sessions.played_session import PlayedSession
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, store_url


def open_now(folder: Path) -> list[OpenRun]:
    with open_store(store_url(folder)) as store, store.session() as session:
        return open_runs(session.connection(), [1])


def said_of_hypotheses(folder: Path) -> list[EvidenceSoFar]:
    with open_store(store_url(folder)) as store, store.session() as session:
        return evidence_so_far(session.connection(), [1])


def test_silent_sessions_and_those_of_another_kind_are_told_apart() -> None:
    sentence = progress_of({"done": 3, "error": 2, "no_tool": 1}, corrupt=["leak"], planned=8)

    assert sentence.startswith("Progress: 6 of 8 sessions ended, 0 corrupt, 2 silent; 0")


@pytest.mark.end_to_end
def test_while_a_run_is_open_the_store_says_what_it_bears_so_far(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=6)
    seen: list[OpenRun] = []

    def look(played: PlayedSession) -> None:
        seen.extend(open_now(tmp_path))

    run_once(tmp_path, watching=Watching(on_session=look))

    ended = sorted({run.n_ended for run in seen})
    assert ended[-1] == 6
    assert all(run.progress_said for run in seen)
    last = next(run for run in seen if run.n_ended == 6)
    assert last.progress_said is not None
    assert last.progress_said.startswith("Progress: 6 of 6 sessions ended, 0 corrupt;")
    assert last.progress_said.endswith("No verdict.")
    assert open_now(tmp_path) == []


@pytest.mark.end_to_end
def test_after_each_run_its_hypotheses_say_how_far_they_are(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8", "bf16"], sessions=6)
    before: list[str | None] = []

    def look(played: PlayedSession) -> None:
        before.extend(each.progress_said for each in said_of_hypotheses(tmp_path))

    run_once(tmp_path, watching=Watching(on_session=look))

    assert before[0] is None
    (said,) = said_of_hypotheses(tmp_path)
    assert said.progress_said is not None
    assert said.progress_said.startswith("Progress after 1 run and 1 of the arm compared with: ")
    assert said.progress_said.endswith("No verdict.")


@pytest.mark.end_to_end
def test_a_prediction_that_has_failed_is_told_before_the_campaign_ends(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["bf16", "fp8"], sessions=6)

    run_once(tmp_path)

    (said,) = said_of_hypotheses(tmp_path)
    assert said.progress_said is not None
    assert "so that the prediction has failed already" in said.progress_said
