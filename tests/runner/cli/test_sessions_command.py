"""`decisive sessions`: what it lists, what it says of the rest, and what it refuses."""

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner, Result

from db.errors import FilterError
from db.vocabulary import Outcome
from runner.cli.main import app
from tests.db.factories import stored_campaign, stored_run
from tests.db.fresh_stores import fresh_store


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_store(tmp_path_factory.mktemp("store")) as store:
        made = stored_campaign(store)
        stored_run(store, made.arms[0], counts={Outcome.DONE: 2, Outcome.LEAK: 3}, with_turns=True)
        stored_run(store, made.arms[2], counts={Outcome.ERROR: 1})
        yield store.url


def _sessions(store_url: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["sessions", "--store", store_url, *arguments])


def test_sessions_that_pass_are_listed_with_their_arm(store_url: str) -> None:
    said = _sessions(store_url, "--where", "outcome:leak arm:bf16-on").stdout

    assert "s-3" in said
    assert "bf16 · on · fp8-sized · C=80" in said
    assert "3 sessions pass: 3 leak" in said


def test_it_is_said_when_only_the_first_are_shown(store_url: str) -> None:
    said = _sessions(store_url, "--where", "outcome:corrupt", "--limit", "1").stdout

    assert "3 sessions pass: 3 leak; the first 1 are shown" in said


def test_nothing_that_passes_is_no_fault(store_url: str) -> None:
    result = _sessions(store_url, "--where", '"never said"')

    assert result.exit_code == 0
    assert result.stdout == "0 sessions pass\n"


def test_an_arm_that_is_not_there_is_told_with_those_that_are(store_url: str) -> None:
    result = _sessions(store_url, "--where", "arm:hicash,bf16-on", "--json")

    assert json.loads(result.stdout)["passing"] == 5
    told = " ".join(result.stderr.split())
    assert "no arm with sessions is named hicash; there are: a-1 bf16 · on · fp8-sized" in told
    assert "; a-3 " in told
    assert _sessions(store_url, "--where", "arm:bf16-on").stderr == ""


def test_scripts_get_counts_and_sessions(store_url: str) -> None:
    found = json.loads(_sessions(store_url, "--where", 'outcome:leak "DSML"', "--json").stdout)

    assert found["passing"] == 3
    assert found["is_complete"] is True
    assert found["outcomes"] == {"leak": 3}
    assert {each["session"] for each in found["sessions"]} == {"s-3", "s-4", "s-5"}
    assert found["sessions"][0]["levels"]["hicache"] == "on"


def test_a_bad_filter_is_refused_with_its_place(store_url: str) -> None:
    error = _sessions(store_url, "--where", "outcome:leek").exception

    assert isinstance(error, FilterError)
    assert "at character 9" in str(error)


def test_the_help_names_every_key_and_how_terms_are_written() -> None:
    told = " ".join(CliRunner().invoke(app, ["sessions", "--help"]).stdout.split())

    for word in ("outcome", "level", "Commas separate alternatives"):
        assert word in told
