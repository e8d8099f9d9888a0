"""When the runs of an arm may end early, and what that costs; knows no clock and no process.

A corrupt session may refute at any time. What confirms is read between runs only, because sessions
of one run are correlated. No run of the arm compared with is cut short, because its rate is what is
compared to; but no more of them are needed once the direction is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.elimination_process import elimination_e_value
from runner.evidence.number_words import counted_text, e_text, of_text, share_text
from runner.evidence.run_block_process import RunPair, run_block_e_value
from runner.evidence.silent_sessions import LaunchCounts, upper_limits


class StopReason(StrEnum):
    FIRST_CORRUPT = "first_corrupt"
    CRITERION_FAILED = "criterion_failed"
    CONFIRMED = "confirmed"
    DIRECTION_SHOWN = "direction_shown"


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """`text` says why to stop, `cost` what stopping here leaves unknown."""

    reason: StopReason
    text: str
    cost: str


def advice_within_run(
    run: LaunchCounts, *, sessions_planned: int, criterion_failed: bool, rule: DecisionRule
) -> StopAdvice | None:
    """After any session of the changed arm's open run; None: go on.

    `criterion_failed`: a criterion of the prediction is broken for good, wedges included.
    """
    if rule.ending is Ending.FIXED:
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
    limit = upper_limits(
        after, rho=rule.rho_max, benign=False, baseline_rate=1.0, confidence=rule.confidence
    ).used
    return StopAdvice(
        StopReason.CONFIRMED,
        f"Stopped after {counted_text(len(after), 'run')}: at most {share_text(limit)} is left, "
        f"and corruption is lower than in the arm compared with ({e_text(lower)}, needed "
        f"{rule.direction_bar:.0f}).",
        "Later runs would have lowered the limit further.",
    )


def advice_for_versus(
    after: Sequence[LaunchCounts], before: Sequence[LaunchCounts], *, rule: DecisionRule
) -> StopAdvice | None:
    """Whether the arm compared with needs no further run, while the changed arm goes on."""
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
