"""What a job that guards a stack is told of a campaign: one case for each claim and each run.

A case that could not be decided is an error, never a pass. Runs are listed and decide nothing by
themselves: the hypotheses do, and where there are none, the arms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.vocabulary import Headline, RunState
from runner.evidence.number_words import counted_text
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.verdict_validity import too_many_are_ours
from runner.evidence.wording import corrupt_text, evidence_text
from runner.report.arm_result import ArmResult
from runner.report.report_record import CampaignRecord, ReportedVerdict

FAILING = frozenset({Headline.REFUTED, Headline.WORSE, Headline.IMPROVED_NOT_ELIMINATED})


class CaseResult(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class GateCase:
    """`kind` and `said` tell why it did not pass; `text` is what a reader opens for more."""

    suite: str
    group: str
    name: str
    result: CaseResult
    kind: str = ""
    said: str = ""
    text: str = ""
    seconds: float = 0.0


def gate_cases(record: CampaignRecord, *, max_silent_share: float) -> tuple[GateCase, ...]:
    """Every case passes or is skipped just where `decisive run` ends with 0.

    `max_silent_share`: with more silent sessions in a run, an arm that nobody claimed anything of
    says too little.
    """
    claims = _hypothesis_cases(record) if record.verdicts else _arm_cases(record, max_silent_share)
    return (*claims, *_run_cases(record))


def _hypothesis_cases(record: CampaignRecord) -> Iterator[GateCase]:
    """One that was written down after runs had begun decides only where no other does."""
    decides = any(not each.verdict.is_exploratory for each in record.verdicts)
    for each in record.verdicts:
        is_hint = each.verdict.is_exploratory
        yield GateCase(
            suite="hypotheses",
            group=record.campaign.name,
            name=f"{each.slug}: {each.claim}",
            result=CaseResult.SKIPPED if is_hint and decides else _result_of(each),
            kind=str(each.verdict.headline),
            said=each.verdict.sentence,
            text="\n".join(verdict_lines(each.verdict)),
        )


def _result_of(each: ReportedVerdict) -> CaseResult:
    if each.verdict.headline in FAILING:
        return CaseResult.FAILED
    is_confirmed = each.verdict.headline is Headline.CONFIRMED and not each.verdict.is_exploratory
    return CaseResult.PASSED if is_confirmed else CaseResult.ERROR


def _arm_cases(record: CampaignRecord, max_silent_share: float) -> Iterator[GateCase]:
    """Nothing was predicted: corruption or a wedge is a failure, and silence is no success."""
    for arm in record.results:
        result, kind, said = _arm_result(arm, max_silent_share)
        yield GateCase(
            suite="arms",
            group=record.campaign.name,
            name=arm.name,
            result=result,
            kind=kind,
            said=said,
            text=f"{corrupt_text(arm.counts)}\n{evidence_text(arm.counts)}",
        )


def _arm_result(arm: ArmResult, max_silent_share: float) -> tuple[CaseResult, str, str]:
    counts = arm.counts
    if counts.corrupt or any(run.wedges for run in arm.done):
        corrupt = counted_text(counts.corrupt, "corrupt session")
        seen = f"{corrupt} and {counted_text(arm.wedges or 0, 'wedge')} seen"
        return CaseResult.FAILED, "corrupt_or_wedged", seen
    missing = {run.run_key for run in arm.runs} - {run.run_key for run in arm.done}
    if not arm.done or missing:
        return CaseResult.ERROR, "runs_missing", f"{counted_text(len(missing), 'run')} missing"
    if any(_silent_share(run) > max_silent_share for run in arm.done):
        return CaseResult.ERROR, "silent", f"too many silent sessions: {evidence_text(counts)}"
    if any(too_many_are_ours(run.n_harness_error, run.n_ended) for run in arm.done):
        ours = counted_text(counts.harness_errors, "session")
        return CaseResult.ERROR, "harness_errors", f"{ours} failed by our own fault"
    return CaseResult.PASSED, "", ""


def _silent_share(run: RunCounts) -> float:
    """Of its sessions but those that the client failed; 1 where there are none."""
    sessions = run.n_ended - run.n_harness_error
    return run.n_error / sessions if sessions else 1.0


def _run_cases(record: CampaignRecord) -> Iterator[GateCase]:
    for arm in record.results:
        for run in arm.runs:
            is_done = run.run_state is RunState.DONE
            why = run.reason or ("not run" if run.run_state is RunState.PLANNED else run.state)
            yield GateCase(
                suite="runs",
                group=f"{record.campaign.name}.{arm.name}",
                name=f"{format_id(IdKind.RUN, run.id)}, block {run.block}",
                result=CaseResult.PASSED if is_done else CaseResult.SKIPPED,
                kind="" if is_done else run.state,
                said="" if is_done else why,
                text=_run_text(run),
                seconds=run.wall_s or 0.0,
            )


def _run_text(run: RunCounts) -> str:
    counts = ", ".join(f"{number:,} {outcome}" for outcome, number in run.counts.items() if number)
    flags = f"; flags: {', '.join(map(str, run.flags))}" if run.flags else ""
    return f"{counts or 'no sessions'}{flags}"


def failing_cases(cases: Sequence[GateCase]) -> list[GateCase]:
    return [case for case in cases if case.result in (CaseResult.FAILED, CaseResult.ERROR)]
