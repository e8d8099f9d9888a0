"""`decisive verdict` and what `show` says, from stored runs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from db.vocabulary import RunState
from runner.cli.main import app
from runner.errors import UsageError
from runner.execute.verdicts import judge_hypotheses
from tests.runner.execute.stored_evidence import BASELINE, CHANGED, StoredEvidence, hypothesis


def decisive(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def stored_in(folder: Path, after: tuple[int, int, int], blocks: int = 2) -> StoredEvidence:
    stored = StoredEvidence(folder)
    for block in range(1, blocks + 1):
        stored.add_run(CHANGED, block, after)
        stored.add_run(BASELINE, block, (68, 12, 0))
    return stored


def test_a_verdict_says_three_answers_reasons_and_what_was_registered(tmp_path: Path) -> None:
    stored = stored_in(tmp_path, (70, 10, 0))
    stored.add_run(CHANGED, 2, (3, 0, 0), state=RunState.STOPPED, run_key="x", reason="by hand")
    judge_hypotheses(stored.store, stored.campaign_id)

    result = decisive("verdict", "--store", stored.store.url)

    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith('pool: REFUTED. The prediction "corrupt == 0 and wedges == 0"')
    assert "  Claim: the pool is the cause" in lines
    assert any(line.startswith("  Registered before the first run. Judged ") for line in lines)
    assert "  Reasons: criterion corruption == 0 failed (20 seen); direction:too_few_runs." in lines
    for question in ("Is the fault gone?", "Less corruption than in the arm", "More silence than"):
        assert sum(line.startswith(f"  {question}") for line in lines) == 1
    left_out = "r-5 of dtype-aware, block 2, is stopped, with 3 sessions that ended: by hand"
    assert f"  Left out: {left_out}" in lines
    assert any(line.startswith("  Next 1: ") for line in lines)


def test_show_report_and_verdict_say_the_same_lines(tmp_path: Path) -> None:
    stored = stored_in(tmp_path, (80, 0, 0))
    judge_hypotheses(stored.store, stored.campaign_id)

    said = json.loads(decisive("verdict", "--json", "--store", stored.store.url).stdout)
    shown = decisive("show", "pool-test", "--store", stored.store.url).stdout
    report = decisive("report", "--json", "--store", stored.store.url).stdout

    (verdict,) = said["verdicts"]
    assert verdict["headline"] == "confirmed" and verdict["registered"] is True
    for line in verdict["said"]:
        assert line in shown
    assert "No corruption in 160 sessions that gave evidence over 2 runs" in report


def test_a_verdict_that_is_older_than_its_runs_says_so(tmp_path: Path) -> None:
    stored = stored_in(tmp_path, (80, 0, 0))
    before = decisive("verdict", "--store", stored.store.url).stdout
    judge_hypotheses(stored.store, stored.campaign_id)
    stored.add_run(CHANGED, 3, (70, 10, 0))
    stored.add_run(BASELINE, 3, (68, 12, 0))

    after = decisive("verdict", "--store", stored.store.url).stdout

    assert "Not stored yet." in before
    assert "Its runs have changed since it was stored; this is how they stand now." in after


def test_one_hypothesis_is_asked_for_by_name(tmp_path: Path) -> None:
    others = [hypothesis(), hypothesis(slug="other", definition_key="other", tolerate=0.2)]
    stored = StoredEvidence(tmp_path, hypotheses=others)

    result = decisive("verdict", "--hypothesis", "other", "--store", stored.store.url)
    lost = decisive("verdict", "--hypothesis", "lost", "--store", stored.store.url)

    assert result.exit_code == 3
    assert "other: INCONCLUSIVE." in result.stdout and "pool: " not in result.stdout
    assert isinstance(lost.exception, UsageError)
    assert "no hypothesis 'lost'; it has: pool, other" in str(lost.exception)


@pytest.mark.parametrize(
    ("after", "status"), [((80, 0, 0), 3), ((40, 40, 0), 1)], ids=["clean", "corrupt"]
)
def test_what_was_written_after_the_first_run_is_exploratory_everywhere(
    tmp_path: Path, after: tuple[int, int, int], status: int
) -> None:
    stored = StoredEvidence(tmp_path, hypotheses=[])
    for block in (1, 2, 3):
        stored.add_run(CHANGED, block, after)
        stored.add_run(BASELINE, block, (40, 40, 0))
    stored.change(hypothesis(definition_key="later"))
    judge_hypotheses(stored.store, stored.campaign_id)

    verdict = decisive("verdict", "--store", stored.store.url)
    shown = decisive("show", "pool-test", "--store", stored.store.url).stdout
    as_json = json.loads(decisive("show", "--json", "--store", stored.store.url, "c-1").stdout)
    report = json.loads(decisive("report", "--json", "--store", stored.store.url).stdout)["text"]

    assert verdict.exit_code == status
    for text in (verdict.stdout, shown, report):
        assert ". Exploratory: " in text
    assert "Written down after the first run had begun: exploratory." in verdict.stdout
    (said,) = as_json["verdicts"]
    assert said["registered"] is False and said["sentence"].startswith("Exploratory: ")
    assert "exploratory" in next(
        line for line in report.splitlines() if line.startswith("| pool |")
    )


def test_a_campaign_without_a_hypothesis_claims_nothing(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path, hypotheses=[])
    stored.add_run(CHANGED, 1)

    result = decisive("verdict", "--store", stored.store.url)

    assert result.stdout.startswith("No hypothesis was written down, so nothing is claimed.")


@pytest.mark.parametrize(
    ("counts", "columns", "status"),
    [
        ((80, 0, 0), {}, 0),
        ((79, 1, 0), {}, 1),
        ((80, 0, 0), {"wedges": 1}, 1),
        ((0, 0, 80), {}, 3),
        ((60, 0, 20), {}, 3),
        ((76, 0, 4), {}, 0),
    ],
)
def test_without_a_hypothesis_corruption_fails_and_silence_is_no_success(
    tmp_path: Path, counts: tuple[int, int, int], columns: dict[str, int], status: int
) -> None:
    stored = StoredEvidence(tmp_path, hypotheses=[])
    stored.add_run(CHANGED, 1, counts, **columns)

    assert decisive("verdict", "--store", stored.store.url).exit_code == status
