"""`decisive import`: what it says of a file, and where the runs are afterwards."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from runner.cli.import_command import import_run
from runner.errors import RecordedCaseError, UsageError
from tests.db.fresh_stores import fresh_store
from tests.runner.cli.one_command import invoked

BENCH = Path(__file__).resolve().parents[2] / "data" / "imports" / "vllm_bench_serve.json"


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    with fresh_store(tmp_path) as store:
        return store.url


def _import(store_url: str, *arguments: str) -> Result:
    return CliRunner().invoke(invoked(import_run), [*arguments, "--store", store_url])


def test_a_bench_result_becomes_a_run_and_what_it_cannot_say_is_said(store_url: str) -> None:
    result = _import(store_url, str(BENCH))

    assert result.exit_code == 0
    assert "r-1 in campaign imported: leak 2" in result.stdout
    assert "6 requests; 3 of them with an answer or error in the file" in result.stdout


def test_scripts_get_the_run_with_the_figures_of_the_tool(store_url: str) -> None:
    result = _import(
        store_url, str(BENCH), "--campaign", "nightly", "--arm", "fp8", "--level", "k=v", "--json"
    )

    told = json.loads(result.stdout)
    (run,) = told["runs"]
    assert (told["campaign"], run["run"], run["requests"]) == ("nightly", "r-1", 6)
    assert run["imported"]["tool"] == "vllm bench serve"
    assert run["imported"]["figures"]["completed"] == 6


def test_what_scripts_get_is_json_though_a_rate_was_without_limit(store_url: str) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    told = _import(store_url, str(BENCH.with_name("sglang_bench_serving.jsonl")), "--json").stdout

    json.loads(told, parse_constant=refuse)


def test_printed_lines_have_a_campaign_of_their_own(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "old.log"
    file.write_text(
        'wall=485.7s counts={"error": 75, "leak": 5}\n'
        "CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)\n"
    )

    assert (
        "r-1 in campaign imported-lines: leak 5, error 75" in _import(store_url, str(file)).stdout
    )


def test_a_file_that_is_not_known_is_named(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("shopping: milk")

    error = _import(store_url, str(file)).exception

    assert isinstance(error, RecordedCaseError)
    assert str(error).startswith(f"{file}: line 1 is no JSON object (shopping: milk)")


def test_a_level_without_a_value_is_refused_before_anything_is_stored(store_url: str) -> None:
    error = _import(store_url, str(BENCH), "--level", "keys").exception

    assert isinstance(error, UsageError)
    assert str(error) == "--level keys: wanted is factor=level"
    assert "r-1" in _import(store_url, str(BENCH)).stdout


@pytest.mark.parametrize("name", ["../x", "two words", "", "a\nb", "x" * 65])
def test_a_campaign_gets_no_name_that_its_file_could_not_have(store_url: str, name: str) -> None:
    error = _import(store_url, str(BENCH), "--campaign", name).exception

    assert isinstance(error, UsageError)
    assert "a name has letters" in str(error)
