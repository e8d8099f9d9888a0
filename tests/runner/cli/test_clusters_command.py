"""`decisive clusters` on a store."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from db.store import Store
from db.vocabulary import Outcome, RunState
from runner.cli.clusters_command import clusters
from runner.errors import UsageError
from tests.db.factories import stored_campaign, stored_log_events, stored_run, stored_session
from tests.db.fresh_stores import fresh_store
from tests.runner.cli.one_command import invoked


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as made:
        arms = stored_campaign(made).arms
        stored_session(made, stored_run(made, arms[2]))
        run = stored_run(made, arms[0])
        for index in range(3):
            stored_session(made, run, Outcome.LEAK, index=index, decisive_turn=0)
        stored_session(made, run, index=3)
        stored_log_events(made, run, ["Decode transfer failed, aborting"])
        stopped = stored_run(made, arms[0], state=RunState.STOPPED, block=1)
        stored_session(made, stopped, Outcome.LEAK, decisive_turn=0)
        yield made


def test_failures_of_the_runs_that_count_are_grouped_with_what_was_logged(store: Store) -> None:
    result = CliRunner().invoke(invoked(clusters), ["--store", store.url, "--json"])

    told = json.loads(result.stdout)
    (cluster,) = told["clusters"]
    assert result.exit_code == 0
    assert (cluster["sessions"], cluster["by_turn"]) == (3, {"0": 3})
    assert cluster["signature"].startswith("leak, dsml markup in content")
    assert cluster["by_event"] == {"waiting_for_input": 3}
    assert told["near_corrupt"][0]["others_near"] == 2
    assert told["linked"]["test"]["corrupt"] == 3
    assert told["linked"]["said"]


def test_an_arm_can_be_asked_about_alone(store: Store) -> None:
    result = CliRunner().invoke(invoked(clusters), ["c-1", "--arm", "a-3", "--store", store.url])

    assert "None of 1 session failed." in result.stdout


def test_where_no_session_has_ended_none_is_said_to_be_clean(store: Store) -> None:
    result = CliRunner().invoke(invoked(clusters), ["c-1", "--arm", "a-2", "--store", store.url])

    assert "No run that is done has a session yet." in result.stdout
    assert "failed" not in result.stdout


def test_an_arm_that_is_not_there_is_refused_with_those_that_are(store: Store) -> None:
    error = CliRunner().invoke(invoked(clusters), ["--arm", "bf17", "--store", store.url]).exception

    assert isinstance(error, UsageError)
    assert "no arm 'bf17'; it has: a-1 bf16" in str(error)
