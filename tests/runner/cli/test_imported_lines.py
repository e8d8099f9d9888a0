from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from db.vocabulary import Availability, Direction, Headline
from runner.cli.main import app
from runner.evidence.claim_guard import unlicensed_claims
from runner.evidence.given_numbers import agrees, read_json
from tests.runner.cli.calls import decisive, json_of, refusal

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "data" / "cases"
VERDICTS: dict[str, Any] = read_json((CASES / "verdict_cases.json").read_text("utf-8"))

REAL_CASE = """
wall=485.7s counts={"error": 75, "leak": 5}
CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)
peak decode #running: 2.0
WaitingForInput/aborts during run: 168
"""


@pytest.fixture
def seed(tmp_path: Path) -> str:
    file = tmp_path / "seed.txt"
    file.write_text(f"some noise\n{REAL_CASE}", "utf-8")
    return str(file)


@pytest.mark.parametrize("command", [("evidence",), ("import", "--versus", "12/80")])
def test_a_file_that_is_not_there_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    assert "cannot read" in refusal(*command, str(tmp_path / "absent"))


def test_the_real_case_reads_refuted_without_improvement_and_with_worse_availability(
    seed: str,
) -> None:
    read = json_of("import", seed, "--versus", "12/80", status=1)

    expected = VERDICTS["01_real_case"]["expected"]
    assert read["headline"] == Headline.REFUTED == expected["headline"].casefold()
    assert (read["direction"], read["availability"]) == (Direction.UNCLEAR, Availability.WORSE)
    assert read["run"]["wedge_lines"] == 168
    assert (read["run"]["sessions"], read["run"]["evidence"]) == (80, 5)
    assert agrees(read["numbers"]["p_silent_up"], expected["p_errors_up"])
    assert agrees(read["numbers"]["p_higher_evidence_only"], expected["p_higher_pp"])


def test_the_real_case_claims_no_more_than_its_verdict(seed: str) -> None:
    said = decisive("import", seed, "--versus", "12/80").stdout

    assert "CORRUPTION sessions: 5/80 = 6%" in said
    assert "REFUTED. " in said
    assert "no improvement shown, because 75 of 80 sessions gave no evidence" in said
    assert "Availability is worse" in said
    assert "Next 1: Find what wedged the server" in said
    assert not unlicensed_claims(
        said,
        headline=Headline.REFUTED,
        direction=Direction.UNCLEAR,
        availability=Availability.WORSE,
    )


def test_another_prediction_and_silent_sessions_of_the_other_arm_are_used(seed: str) -> None:
    read = json_of(
        *("import", seed, "--versus", "12/80", "--silent", "3", "--predict", "leak <= 9"), status=3
    )

    assert read["numbers"]["before"]["silent"] == 3
    assert read["inputs"]["predict"] == "leak <= 9"


def test_lines_can_come_from_standard_input() -> None:
    result = CliRunner().invoke(app, ["import", "-", "--versus", "12/80"], input=REAL_CASE)

    assert "REFUTED. " in result.stdout


@pytest.mark.parametrize(
    ("text", "arguments", "what"),
    [
        ("nothing", (), "no line like"),
        (REAL_CASE.replace("5/80", "6/80"), (), "contradict"),
        (REAL_CASE.replace("485.7", "4.8.5"), (), "a number in its lines"),
        (REAL_CASE, ("--silent", "x"), "whole numbers"),
        (REAL_CASE, ("--predict", "corrupt = 0"), "--predict: a count is compared by"),
    ],
)
def test_what_cannot_be_imported_is_refused(
    tmp_path: Path, text: str, arguments: tuple[str, ...], what: str
) -> None:
    file = tmp_path / "seed.txt"
    file.write_text(text, "utf-8")

    assert what in refusal("import", str(file), "--versus", "12/80", *arguments)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_log_that_a_windows_shell_wrote_is_imported(tmp_path: Path, encoding: str) -> None:
    seed = tmp_path / "seed.txt"
    seed.write_bytes(REAL_CASE.replace("\n", "\r\n").encode(encoding))

    result = decisive("import", str(seed), "--versus", "12/80")

    assert result.exit_code == 1
    assert "REFUTED. " in result.stdout


def test_an_import_that_cannot_say_ends_like_one(tmp_path: Path) -> None:
    seed = tmp_path / "seed.txt"
    seed.write_text('wall=9.0s counts={"done": 80}\n', "utf-8")

    result = decisive("import", str(seed), "--versus", "12/80")

    assert result.exit_code == 3
    assert "WaitingForInput/aborts during run: unknown" in result.stdout
