"""`decisive diff` on a store: two of a kind side by side, and one sentence for what is not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from db.store import Store
from db.tables.campaigns import ArmRow
from db.vocabulary import Outcome
from runner.cli.diff_command import diff
from runner.cli.import_command import import_run
from runner.errors import UsageError
from tests.db.factories import stored_campaign, stored_run, stored_session
from tests.db.fresh_stores import fresh_store
from tests.db.unstored_rows import CLEAN_TURNS, LEAKED_TURNS, TurnSpec
from tests.runner.cli.one_command import invoked

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """r-1 and r-2: dialogue 0 is leaked in r-1 only, dialogue 1 clean in both; r-3 is r-2 again."""
    with fresh_store(tmp_path) as made:
        arms = stored_campaign(made).arms
        failing = stored_run(made, arms[0])
        stored_session(made, failing, Outcome.LEAK, index=0, turns=LEAKED_TURNS, decisive_turn=0)
        stored_session(made, failing, Outcome.DONE, index=1)
        for block in (0, 1):
            _clean_run(made, arms[2], block)
        yield made


def _clean_run(store: Store, arm: ArmRow, block: int) -> None:
    run = stored_run(store, arm, block=block)
    for index in range(2):
        stored_session(store, run, Outcome.DONE, index=index, turns=CLEAN_TURNS)


def said(store: Store, *arguments: str) -> dict[str, Any]:
    result = _diff(store, *arguments, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert isinstance(told, dict)
    return told


def _diff(store: Store, *arguments: str) -> Result:
    return CliRunner().invoke(invoked(diff), [*arguments, "--store", store.url])


def test_two_runs_are_paired_by_their_dialogues(store: Store) -> None:
    told = said(store, "r-1", "r-2")

    assert (told["kind"], told["a"], told["b"]) == ("run", "r-1", "r-2")
    assert told["divergence"]["pairs"] == 2
    assert told["divergence"]["agreed"] == 1
    assert told["divergence"]["partings"] == {"answer": 1}
    assert told["divergence"]["corrupt_partings"] == 1
    assert told["divergence"]["by_chance"] == {"parted": 0, "pairs": 2}
    assert {"kind": "factor", "name": "hicache", "a": "on", "b": "off"} in told["configuration"]


def test_arms_are_found_by_name_and_by_id(store: Store) -> None:
    by_name = said(store, "bf16 · on · fp8-sized · C=80", "bf16 · off · fp8-sized · C=80")

    assert by_name == said(store, "a-1", "a-3")
    assert by_name["divergence"]["by_turn"] == {"0": 1}


def test_two_sessions_part_where_the_markup_came_as_text(store: Store) -> None:
    whole = said(store, "s-1", "s-3")
    told = whole["divergence"]

    assert [turn["turn"] for turn in whole["turns"]] == [0, 1]
    assert whole["turns"][1]["a"] is None
    assert (told["turn_index"], told["field"]) == (0, "content / call 1")
    assert told["markup"]["place"] == "function name"
    assert told["a"]["session"] == "s-1"
    assert told["context_tokens"] == [150, 180]


def test_two_sessions_that_agree_are_said_to(store: Store) -> None:
    result = _diff(store, "s-2", "s-4")

    assert "asked and answered alike in every turn" in result.stdout


def test_campaigns_differ_in_their_definitions_and_arms(store: Store) -> None:
    stored_campaign(store, name="other")

    told = said(store, "c-1", "c-2")

    assert {"kind": "campaign", "name": "campaign", "a": "decisive-test", "b": "other"} in told[
        "configuration"
    ]
    assert (len(told["arms"]["both"]), told["arms"]["only_a"]) == (5, [])
    assert told["servers"] == []
    assert "0 things that they say of themselves differ" in _diff(store, "c-1", "c-2").stdout


def test_what_the_model_said_cannot_steer_the_terminal(store: Store) -> None:
    run = stored_run(store, stored_campaign(store, name="hostile").arms[0])
    stored_session(store, run, index=0, turns=[TurnSpec(content="\x1b[2J wiped")])
    stored_session(store, run, index=1, turns=[TurnSpec(content="fine")])

    result = _diff(store, "s-7", "s-8")

    assert "\x1b" not in result.stdout
    assert "\\x1b[2J wiped" in result.stdout


@pytest.mark.parametrize(
    ("sides", "sentence"),
    [
        (("r-1", "r-1"), "are the same run"),
        (("r-1", "s-1"), "only two of a kind"),
        (("r-1", "r-99"), "has no r-99"),
        (("r-1", "nonsense"), "has the arms a-1 bf16"),
    ],
)
def test_what_cannot_be_laid_side_by_side_is_one_sentence(
    store: Store, sides: tuple[str, str], sentence: str
) -> None:
    error = _diff(store, *sides).exception

    assert isinstance(error, UsageError)
    assert sentence in str(error)


def test_a_run_of_which_nothing_can_be_judged_says_so(store: Store) -> None:
    bench = DATA / "imports" / "sglang_bench_serving.jsonl"
    arguments = [str(bench), "--store", store.url, "--json"]
    told = json.loads(CliRunner().invoke(invoked(import_run), arguments).stdout)
    first, second = (run["run"] for run in told["runs"])

    text = _diff(store, first, second).stdout

    assert "C=4: no session can be judged" in text
    assert "corrupt no sessions" not in text
