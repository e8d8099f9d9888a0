"""When the runs of an arm may end early, and what that costs; knows no clock and no process.

A corrupt session may refute at any time. What confirms is read between runs only, because sessions
of one run are correlated. No run of the arm compared with is cut short, because its rate is what is
compared to; but no more of them are needed once the direction is shown. Planned looks read whole
runs of both arms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.campaign.prediction import CORRUPT, Prediction
from runner.evidence.decision_rule import ClaimKind, DecisionRule, Ending
from runner.evidence.elimination_process import elimination_e_value
from runner.evidence.number_words import counted_text, e_text, of_text, share_text
from runner.evidence.planned_looks import TWO_LOOKS, looks_p
from runner.evidence.run_block_process import RunPair, run_block_e_value
from runner.evidence.run_rate_test import Cluster
from runner.evidence.silent_sessions import LaunchCounts, upper_limits


class StopReason(StrEnum):
    FIRST_CORRUPT = "first_corrupt"
    CRITERION_FAILED = "criterion_failed"
    CONFIRMED = "confirmed"
    DIRECTION_SHOWN = "direction_shown"
    PLANNED_LOOK = "planned_look"


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """`text` says why to stop, `cost` what stopping here leaves unknown."""

    reason: StopReason
    text: str
    cost: str


def ends_at_first_corrupt(prediction: Prediction, rule: DecisionRule) -> bool:
    """Whether a single corrupt session answers the hypothesis, so that a run may end there."""
    if not rule.ending.cuts_runs or rule.claim is ClaimKind.REDUCE or rule.background > 0.0:
        return False
    return any(each.name == CORRUPT and each.is_exceeded_by(1) for each in prediction.criteria)


def advice_within_run(
    run: LaunchCounts, *, sessions_planned: int, criterion_failed: bool, rule: DecisionRule
) -> StopAdvice | None:
    """After any session of the changed arm's open run; None: go on.

    `criterion_failed`: a criterion of the prediction is broken for good, wedges included.
    """
    if not rule.ending.cuts_runs:
        return None
    cost = (
        f"{of_text(run.sessions, sessions_planned)} sessions ended: this run gives no usable rate, "
        "so that neither fewer nor more corruption can be said."
    )
    if run.corrupt:
        text = f"Stopped at {counted_text(run.corrupt, 'corrupt session')}: the prediction failed."
        return StopAdvice(StopReason.FIRST_CORRUPT, text, cost)
    if criterion_failed and rule.ending is Ending.DECIDED:
        return StopAdvice(
            StopReason.CRITERION_FAILED, "Stopped: a criterion of the prediction failed.", cost
        )
    return None


def advice_between_runs(
    after: Sequence[LaunchCounts],
    before: Sequence[LaunchCounts],
    *,
    rule: DecisionRule,
    wedges: int | None,
) -> StopAdvice | None:
    """After a finished block: whether the runs so far confirm; None: go on.

    Only with `Ending.DECIDED`. The residual limit needs no price for looking, the direction is
    carried by the run-block process, and silence counts at its worst in both.
    """
    if rule.ending is not Ending.DECIDED or wedges != 0 or not after or not before:
        return None
    eliminated = elimination_e_value(after, p_max=rule.p_max, rho=rule.rho_max)
    lower = _lower_e_value(after, before, rule)
    if eliminated < 1 / rule.alpha_of_direction or lower < rule.direction_bar:
        return None
    limit = _limit(after, rule, rho=rule.rho_max)
    return StopAdvice(
        StopReason.CONFIRMED,
        f"Stopped after {counted_text(len(after), 'run')}: at most {share_text(limit)} is left, "
        f"and corruption is lower than in the arm compared with ({e_text(lower)}, needed "
        f"{rule.direction_bar:.0f}).",
        "Later runs would have lowered the limit further.",
    )


def advice_at_look(
    after: Sequence[LaunchCounts],
    before: Sequence[LaunchCounts],
    *,
    rule: DecisionRule,
    wedges: int | None,
    criterion_failed: bool,
) -> StopAdvice | None:
    """After a finished block: whether a planned look has answered; None: go on.

    Only with `Ending.TWO_LOOKS`. A claim to eliminate is answered when the direction is and the
    prediction has failed, or the limit lies below what is tolerated.
    """
    if rule.ending is not Ending.TWO_LOOKS or not after or not before:
        return None
    lower, higher = _looks_p(after, before, rule), _looks_p(before, after, rule)
    if min(lower, higher) > rule.alpha_to_stop:
        return None
    if rule.claim is not ClaimKind.REDUCE and not criterion_failed:
        limit = _limit(after, rule)
        if wedges != 0 or limit > rule.p_max:
            return None
    found = "lower" if lower <= rule.alpha_to_stop else "higher"
    runs = max(look.runs for look in TWO_LOOKS if look.runs <= min(len(after), len(before)))
    return StopAdvice(
        StopReason.PLANNED_LOOK,
        f"Stopped at the look planned after {counted_text(runs, 'run')} an arm: "
        f"corruption is {found} than in the arm compared with.",
        "The rates stay as uncertain as these runs leave them.",
    )


def advice_for_versus(
    after: Sequence[LaunchCounts], before: Sequence[LaunchCounts], *, rule: DecisionRule
) -> StopAdvice | None:
    """Whether the arm compared with needs no further run, while the changed arm goes on."""
    if rule.ending is Ending.TWO_LOOKS and _looks_p(after, before, rule) <= rule.alpha_to_stop:
        return StopAdvice(
            StopReason.DIRECTION_SHOWN,
            "No more runs of the arm compared with: a planned look found corruption lower than "
            "there.",
            "Its rate stays as uncertain as its runs so far leave it.",
        )
    if rule.ending is not Ending.DECIDED or not after or not before:
        return None
    bar, lower = rule.direction_bar, _lower_e_value(after, before, rule)
    if lower < bar:
        return None
    return StopAdvice(
        StopReason.DIRECTION_SHOWN,
        f"No more runs of the arm compared with: corruption is lower than there ({e_text(lower)}, "
        f"needed {bar:.0f}).",
        "Its rate stays as uncertain as its runs so far leave it.",
    )


def run_pairs(after: Sequence[LaunchCounts], before: Sequence[LaunchCounts]) -> tuple[RunPair, ...]:
    """Runs side by side, silent sessions counted against "after is lower"."""
    return tuple(
        RunPair(a.corrupt + a.silent, a.sessions, b.corrupt, b.sessions)
        for a, b in zip(after, before, strict=False)
    )


def _lower_e_value(
    after: Sequence[LaunchCounts], before: Sequence[LaunchCounts], rule: DecisionRule
) -> float:
    return run_block_e_value(
        run_pairs(after, before), alternatives=rule.alternatives, rho_max=rule.rho_max
    )


def _looks_p(
    first: Sequence[LaunchCounts], second: Sequence[LaunchCounts], rule: DecisionRule
) -> float:
    """Of "the first is lower", silent sessions counted against it."""
    worst = [Cluster(each.corrupt + each.silent, each.sessions) for each in first]
    best = [Cluster(each.corrupt, each.sessions) for each in second]
    return looks_p(worst, best, rho=rule.rho_floor)


def _limit(
    launches: Sequence[LaunchCounts], rule: DecisionRule, *, rho: float | None = None
) -> float:
    """Silence at its worst."""
    return upper_limits(
        launches,
        rho=rule.rho_floor if rho is None else rho,
        benign=False,
        baseline_rate=1.0,
        confidence=rule.confidence,
    ).used
