"""Why a verdict is no stronger than it is: every doubt that the record itself shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from db.vocabulary import RunFlag, RunState
from runner.campaign.prediction import WEDGES
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.wording import fraction_text, percent_text


class ReasonKind(StrEnum):
    CRITERION_FAILED = "criterion_failed"
    WEDGES_NOT_COUNTED = "wedges_not_counted"
    NO_RUN_DONE = "no_run_done"
    RUNS_MISSING = "runs_missing"
    SILENT_SESSIONS = "silent_sessions"
    NOT_REPRODUCED = "not_reproduced"
    NOT_EXERCISED = "not_exercised"
    CLIENT_SATURATED = "client_saturated"
    SERVER_DIED = "server_died"
    HARNESS_ERRORS = "harness_errors"
    RATES_NOT_COMPARED = "rates_not_compared"


@dataclass(frozen=True, slots=True)
class Reason:
    kind: ReasonKind
    text: str


_FLAG_REASONS = {
    RunFlag.NOT_EXERCISED: (ReasonKind.NOT_EXERCISED, "a path that its levels switch was not used"),
    RunFlag.CLIENT_SATURATED: (ReasonKind.CLIENT_SATURATED, "the client was too slow to measure"),
    RunFlag.SERVER_DIED: (ReasonKind.SERVER_DIED, "the server died"),
}


def reasons_of(
    criteria: Sequence[CriterionResult], *, arm: ArmEvidence, versus: ArmEvidence
) -> tuple[Reason, ...]:
    return (
        *_criteria_reasons(criteria, arm),
        *_arm_reasons(arm),
        *_arm_reasons(versus),
        *_not_reproduced(versus),
        Reason(
            ReasonKind.RATES_NOT_COMPARED,
            "the two arms' rates were not compared: this method only checks the prediction",
        ),
    )


def _criteria_reasons(criteria: Sequence[CriterionResult], arm: ArmEvidence) -> Iterator[Reason]:
    for result in criteria:
        if result.state is CriterionState.FAILED:
            text = f"{result.criterion} failed: {result.seen:,} seen"
            yield Reason(ReasonKind.CRITERION_FAILED, text)
        elif has_uncounted_wedges(result, arm):
            yield Reason(ReasonKind.WEDGES_NOT_COUNTED, unchecked_wedges_text(result, arm))


def has_uncounted_wedges(result: CriterionResult, arm: ArmEvidence) -> bool:
    """Whether there are runs, but nobody looked for wedges in all of them."""
    is_open = result.state is CriterionState.UNCHECKED and bool(arm.done)
    return is_open and result.criterion.name == WEDGES


def unchecked_wedges_text(result: CriterionResult, arm: ArmEvidence) -> str:
    """Says what is known in place of wedges: requests and lines that tell of them."""
    text = f"{result.criterion} could not be checked: wedges were not counted"
    if arm.wedge_lines:
        text += (
            f"; {arm.wedge_requests:,} requests with WaitingForInput or abort events "
            f"in {arm.wedge_lines:,} lines were seen"
        )
    return text


def _arm_reasons(arm: ArmEvidence) -> Iterator[Reason]:
    if not arm.done:
        yield Reason(ReasonKind.NO_RUN_DONE, f"{arm.name}: no run is done")
    if arm.missing:
        text = f"{arm.name}: {arm.missing} of {arm.blocks} runs missing"
        detail = "; ".join(_why_left_out(run) for run in arm.left_out)
        yield Reason(ReasonKind.RUNS_MISSING, f"{text} ({detail})" if detail else text)
    silent = arm.counts.silent_of_all
    if silent is not None and silent.count:
        text = f"{arm.name}: {fraction_text(silent)} sessions ({percent_text(silent)}) were silent"
        yield Reason(ReasonKind.SILENT_SESSIONS, text)
    if arm.counts.harness_errors:
        text = f"{arm.name}: {arm.counts.harness_errors} sessions failed by our own fault"
        yield Reason(ReasonKind.HARNESS_ERRORS, f"{text}, in no rate")
    for flag, (kind, what) in _FLAG_REASONS.items():
        runs = ", ".join(run.label for run in arm.flagged(flag))
        if runs:
            yield Reason(kind, f"{arm.name}: {what} ({runs})")


def _why_left_out(run: RunEvidence) -> str:
    state = "not finished" if not run.state.is_terminal else str(run.state)
    state = "planned" if run.state is RunState.PLANNED else state
    return f"{run.label} {state}: {run.reason}" if run.reason else f"{run.label} {state}"


def _not_reproduced(versus: ArmEvidence) -> Iterator[Reason]:
    rate = versus.counts.corrupt_of_all
    if rate is not None and rate.count == 0:
        text = f"{versus.name}: none corrupt there either ({fraction_text(rate)})"
        yield Reason(ReasonKind.NOT_REPRODUCED, text)
