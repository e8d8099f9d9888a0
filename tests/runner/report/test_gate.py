"""What a job is told: cases, JUnit XML and the summary agree with each other and with the store."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from db.reads.campaigns import campaign
from db.vocabulary import RunState
from runner.cli.campaign_summary import MAX_SILENT_SHARE, exit_status
from runner.cli.console import ExitStatus
from runner.execute.verdicts import reach_verdicts
from runner.report.gate_cases import CaseResult, GateCase, gate_cases
from runner.report.gate_summary import gate_summary
from runner.report.junit import junit_xml
from runner.report.report_record import CampaignRecord
from runner.report.stored_record import campaign_record
from tests.runner.execute.stored_evidence import (
    BASELINE,
    CHANGED,
    KNOWN_GOOD,
    StoredEvidence,
    hypothesis,
)
from tests.runner.report.documents import any_text

Counts = tuple[int, int, int]
CLEAN: Counts = (80, 0, 0)
LEAKY: Counts = (60, 20, 0)
SILENT: Counts = (5, 0, 75)


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[StoredEvidence]:
    evidence = StoredEvidence(tmp_path)
    yield evidence
    evidence.store.close()


def _record(stored: StoredEvidence) -> CampaignRecord:
    with stored.store.session() as session:
        facts = campaign(session.connection(), stored.campaign_id)
    assert facts is not None
    return campaign_record(stored.store, facts)


def _cases(stored: StoredEvidence) -> tuple[GateCase, ...]:
    return gate_cases(_record(stored), max_silent_share=MAX_SILENT_SHARE)


def _fill(stored: StoredEvidence, changed: Counts, baseline: Counts) -> None:
    for block in (1, 2, 3):
        stored.add_run(CHANGED, block, changed)
        stored.add_run(BASELINE, block, baseline)


def _status(stored: StoredEvidence) -> ExitStatus:
    judged = reach_verdicts(stored.store, stored.campaign_id)
    return exit_status(stored.store, _record(stored).campaign, judged)


def _bad(cases: tuple[GateCase, ...]) -> bool:
    return any(case.result in (CaseResult.FAILED, CaseResult.ERROR) for case in cases)


@pytest.mark.parametrize(
    ("changed", "result"),
    [(CLEAN, CaseResult.PASSED), (LEAKY, CaseResult.FAILED), (SILENT, CaseResult.ERROR)],
)
def test_a_hypothesis_passes_fails_or_could_not_be_decided(
    stored: StoredEvidence, changed: Counts, result: CaseResult
) -> None:
    _fill(stored, changed, LEAKY)

    claim, *others = _cases(stored)

    assert (claim.suite, claim.result) == ("hypotheses", result)
    assert claim.name == "pool: the pool is the cause"
    assert {case.suite for case in others} == {"runs"}
    assert _bad((claim, *others)) == (_status(stored) is not ExitStatus.FINE)


@pytest.mark.parametrize("counts", [CLEAN, LEAKY, SILENT])
def test_without_a_hypothesis_the_arms_decide_as_the_exit_status_does(
    tmp_path: Path, counts: Counts
) -> None:
    stored = StoredEvidence(tmp_path, hypotheses=[])
    for position in range(3):
        stored.add_run(position, 1, counts if position == CHANGED else CLEAN)

    cases = _cases(stored)

    assert {case.suite for case in cases} == {"arms", "runs"}
    assert _bad(cases) == (_status(stored) is not ExitStatus.FINE)
    stored.store.close()


def test_a_job_whose_own_client_failed_most_sessions_could_not_say_anything(
    tmp_path: Path,
) -> None:
    stored = StoredEvidence(tmp_path, hypotheses=[])
    for position, ours in ((CHANGED, 72), (BASELINE, 4), (KNOWN_GOOD, 0)):
        counts = (80 - ours, 0, 0)
        stored.add_run(position, 1, counts, n_harness_error=ours, n_ended=80)

    arms = [case for case in _cases(stored) if case.suite == "arms"]

    assert [case.result for case in arms] == [
        CaseResult.ERROR,
        CaseResult.PASSED,
        CaseResult.PASSED,
    ]
    assert arms[0].said == "72 sessions failed by our own fault"
    assert _status(stored) is ExitStatus.COULD_NOT_SAY
    stored.store.close()


def test_a_failing_job_says_that_action_is_needed_also_where_nothing_was_claimed(
    tmp_path: Path,
) -> None:
    stored = StoredEvidence(tmp_path, hypotheses=[])
    stored.add_run(CHANGED, 1, (79, 1, 0))

    first, *_ = [case for case in _cases(stored) if case.result is CaseResult.FAILED]
    told = [
        gate_summary(_record(stored), ended="It ended.", is_fine=is_fine, notes=(), redact=str)
        for is_fine in (True, False)
    ]

    assert first.said == "1 corrupt session and 0 wedges seen"
    assert ["_action needed_" in text for text in told] == [False, True]
    stored.store.close()


def test_a_hint_decides_nothing_beside_a_registered_hypothesis(stored: StoredEvidence) -> None:
    _fill(stored, CLEAN, LEAKY)
    swapped = {"arm_position": BASELINE, "versus_position": CHANGED}
    stored.change(hypothesis(), hypothesis(slug="later", definition_key="later", **swapped))

    results = {case.name.split(":")[0]: case.result for case in _cases(stored)}

    assert results["pool"] is CaseResult.PASSED
    assert results["later"] is CaseResult.SKIPPED


def test_a_run_without_a_say_is_skipped_with_its_reason(stored: StoredEvidence) -> None:
    _fill(stored, CLEAN, LEAKY)
    stored.add_run(CHANGED, 4, state=RunState.INVALID, reason="the arm was not verified")

    (run,) = [case for case in _cases(stored) if "block 4" in case.name]

    assert (run.result, run.said) == (CaseResult.SKIPPED, "the arm was not verified")


def test_junit_counts_what_it_lists(stored: StoredEvidence) -> None:
    _fill(stored, LEAKY, LEAKY)
    cases = _cases(stored)

    root = ElementTree.fromstring(junit_xml("pool-test", cases, began_at_us=0))

    assert root.attrib["tests"] == str(len(cases)) == str(len(root.findall(".//testcase")))
    assert root.attrib["failures"] == str(len(root.findall(".//failure"))) == "1"
    assert set(root.attrib) == {"name", "tests", "failures", "errors", "time"}, "Jenkins' schema"
    assert [suite.attrib["name"] for suite in root] == ["hypotheses", "runs"]
    failure = root.find(".//failure")
    assert failure is not None and failure.text is not None
    assert failure.attrib["type"] == "refuted"
    assert failure.text.startswith("REFUTED.")


@settings(deadline=None)
@given(any_text, any_text)
def test_junit_is_whole_xml_whatever_servers_said(name: str, said: str) -> None:
    cases = [GateCase("runs", name, name, CaseResult.SKIPPED, said, said, said)]

    root = ElementTree.fromstring(junit_xml(name, cases, began_at_us=0))

    assert len(root.findall(".//skipped")) == 1


def test_keys_are_taken_out_of_junit() -> None:
    case = GateCase("runs", "g", "n", CaseResult.ERROR, "k", "with s3cret", "said s3cret")

    made = junit_xml("n", [case], began_at_us=0, redact=lambda text: text.replace("s3cret", "-"))

    assert b"s3cret" not in made


def test_the_summary_says_how_it_ended_and_what_was_decided(stored: StoredEvidence) -> None:
    _fill(stored, LEAKY, LEAKY)

    text = gate_summary(
        _record(stored),
        ended="Exit status 1: a prediction failed.",
        is_fine=False,
        notes=("gave up",),
        redact=str,
    )

    assert "Exit status 1: a prediction failed." in text
    assert "gave up" in text
    assert "| pool | refuted |" in text
    assert "| dtype-aware | 3 | 60/240 25.0 %" in text
    assert "](" not in text
