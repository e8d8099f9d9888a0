"""What to do next, and what it costs: the cheapest step that would move the verdict.

Steps without a run come first. Nothing is proposed that could not change the answer.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log

from db.vocabulary import Headline
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES
from runner.evidence.number_words import counted_text, share_text
from runner.evidence.planner import MAX_RUNS
from runner.evidence.run_cost import NO_COST, Cost, cost_of
from runner.evidence.silent_sessions import silent_sessions_borne
from runner.evidence.statistical_power import normal_sessions_needed, runs_guess
from runner.evidence.verdict_decision import Decision, ReasonCode

DEFAULT_HISTORICAL_RATE = 0.15
_MOST_MORE_RUNS = 64


class ExperimentKind(StrEnum):
    REPAIR_COMPARISON = "repair_comparison"
    FIND_SILENCE = "find_silence"
    REPRODUCE = "reproduce"
    MORE_CLEAN_RUNS = "more_clean_runs"
    MORE_RUNS = "more_runs"
    COMPARE_SESSIONS = "compare_sessions"
    LOWER_LIMIT = "lower_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """`runs_after` and `runs_before` are to be added, each of `sessions`, in random order."""

    kind: ExperimentKind
    text: str
    cost: Cost = NO_COST
    runs_after: int = 0
    runs_before: int = 0
    sessions: int = 0


def repair_experiment(
    doubts: Sequence[str],
    *,
    missing_after: int,
    missing_before: int,
    sessions: int,
    setting: ComparisonSetting,
) -> Experiment:
    """Where the comparison itself does not hold: put it right and run what is missing."""
    runs = missing_after + missing_before
    verb = "is" if runs == 1 else "are"
    rerun = f", then run the {counted_text(runs, 'run')} that {verb} missing" if runs else ""
    return Experiment(
        kind=ExperimentKind.REPAIR_COMPARISON,
        text=f"Put right: {'; '.join(doubts)}{rerun}.",
        cost=cost_of(runs, sessions=sessions, each=setting.each_run),
        runs_after=missing_after,
        runs_before=missing_before,
        sessions=sessions,
    )


def next_experiments(
    comparison: ArmComparison,
    decision: Decision,
    *,
    rule: DecisionRule,
    setting: ComparisonSetting,
    wedged: bool,
) -> tuple[Experiment, ...]:
    """In the order in which to do them. `wedged`: the changed arm shows signs of a wedge."""
    return tuple(_experiments(comparison, decision, rule, setting, wedged))


def more_clean_runs(comparison: ArmComparison, *, rule: DecisionRule) -> int | None:
    """Clean runs to add for the tolerated rate; None beyond what a campaign would do."""
    after = comparison.after
    sizes = [launch.evidence for launch in after.launches]
    size = run_size(comparison)
    # Where the other arm has a single run, sessions stay as correlated as declared.
    repeated = len(comparison.before.launches) >= RUNS_TO_COMPARE_RATES
    floor = rule.rho_floor if repeated else rule.rho_single
    rho = max(floor, comparison.icc or 0.0)

    def reaches(more: int) -> bool:
        limit = clustered_upper_limit(
            after.corrupt, [*sizes, *[size] * more], rho=rho, confidence=rule.confidence
        )
        return limit <= rule.p_max

    candidates = range(1, _MOST_MORE_RUNS + 1)
    enough = bisect_left(candidates, True, key=reaches)  # a clean run more never raises the limit
    return candidates[enough] if enough < len(candidates) else None


def sessions_to_reproduce(historical_rate: float, *, probability: float = 0.95) -> int:
    """Sessions that show a fault of this rate at least once: ln(1 - P) / ln(1 - rate)."""
    return ceil(log(1 - probability) / log(1 - historical_rate))


def run_size(comparison: ArmComparison) -> int:
    return max(launch.sessions for launch in comparison.after.launches)


def _experiments(
    comparison: ArmComparison,
    decision: Decision,
    rule: DecisionRule,
    setting: ComparisonSetting,
    wedged: bool,
) -> Iterator[Experiment]:
    size = run_size(comparison)
    censored = ReasonCode.DIRECTION_CENSORING in decision.codes or (
        ReasonCode.ELIMINATION_CENSORING in decision.codes
    )
    if wedged or censored or ReasonCode.SILENCE_ROSE in decision.codes:
        yield _find_silence(comparison, wedged=wedged)
        yield _clean_comparison(comparison, size=size, rule=rule, setting=setting)
        return
    if ReasonCode.DIRECTION_NOT_REPRODUCED in decision.codes:
        yield _reproduce(size=size, setting=setting)
        return
    if decision.headline in (Headline.REFUTED, Headline.WORSE):
        yield Experiment(
            kind=ExperimentKind.COMPARE_SESSIONS,
            text="Read the first corrupt sessions of both arms side by side; no run is needed.",
        )
    if ReasonCode.ELIMINATION_TOO_FEW_SESSIONS in decision.codes:
        yield from _more_clean(comparison, size=size, rule=rule, setting=setting)
    if ReasonCode.DIRECTION_TOO_FEW_RUNS in decision.codes:
        yield _more_runs(comparison, size=size, rule=rule, setting=setting)
    if decision.headline is Headline.CONFIRMED:
        yield _lower_limit(comparison, size=size, rule=rule, setting=setting)
    if decision.headline is Headline.IMPROVED_NOT_ELIMINATED:
        yield Experiment(
            kind=ExperimentKind.COMPARE_SESSIONS,
            text="Find what the corrupt sessions that are left share; no run is needed.",
        )


def _find_silence(comparison: ArmComparison, *, wedged: bool) -> Experiment:
    what = "what wedged the server" if wedged else "why sessions fell silent"
    silent = counted_text(comparison.after.silent, "silent session")
    beside = f" and the first of the {silent}" if comparison.after.silent else ""
    return Experiment(
        kind=ExperimentKind.FIND_SILENCE,
        text=f"Find {what}: the first incident{beside}, by time.",
    )


def _clean_comparison(
    comparison: ArmComparison, *, size: int, rule: DecisionRule, setting: ComparisonSetting
) -> Experiment:
    runs = 2
    before_rate = comparison.before.rate_of_evidence
    hostile = silent_sessions_borne([size] * runs, p_max=rule.p_max, rho=rule.rho_floor)
    benign = silent_sessions_borne(
        [size] * runs,
        p_max=rule.p_max,
        rho=rule.rho_floor,
        baseline_rate=1.0 if before_rate is None else before_rate.value,
        tolerated=rule.silent_tolerated,
    )
    bears = ""
    if benign is not None and hostile is not None:
        bears = (
            f" {share_text(rule.p_max)} is confirmed if no corrupt session is seen, nothing "
            f"wedges, and at most {benign} of {size * runs} are silent for a reason that has "
            f"nothing to do with corruption ({hostile} for any other)."
        )
    return Experiment(
        kind=ExperimentKind.MORE_RUNS,
        text=(
            f"Then {runs} + {runs} runs of {size} in random order; a run of the changed arm may "
            f"end at its first corrupt session where only elimination is asked.{bears}"
        ),
        cost=cost_of(2 * runs, sessions=size, each=setting.each_run),
        runs_after=runs,
        runs_before=runs,
        sessions=size,
    )


def _reproduce(*, size: int, setting: ComparisonSetting) -> Experiment:
    rate = setting.historical_rate or DEFAULT_HISTORICAL_RATE
    sessions = sessions_to_reproduce(rate)
    runs = ceil(sessions / size)
    source = "seen before" if setting.historical_rate else "assumed"
    return Experiment(
        kind=ExperimentKind.REPRODUCE,
        text=(
            f"First reproduce the fault in the arm compared with, under more load if need be: "
            f"{sessions:,} sessions show a rate of {share_text(rate)} ({source}) with 95 % "
            "probability."
        ),
        cost=cost_of(runs, sessions=size, each=setting.each_run),
        runs_before=runs,
        sessions=size,
    )


def _more_clean(
    comparison: ArmComparison, *, size: int, rule: DecisionRule, setting: ComparisonSetting
) -> Iterator[Experiment]:
    runs = more_clean_runs(comparison, rule=rule)
    if runs is None:
        return
    alone = len(comparison.before.launches) < RUNS_TO_COMPARE_RATES
    beside = ", and one more of the arm compared with" if alone else ""
    yield Experiment(
        kind=ExperimentKind.MORE_CLEAN_RUNS,
        text=(
            f"{counted_text(runs, 'more run')} of {size} of the changed arm{beside}: if no "
            f"session is corrupt, at most {share_text(rule.p_max)} is left."
        ),
        cost=cost_of(runs + alone, sessions=size, each=setting.each_run),
        runs_after=runs,
        runs_before=int(alone),
        sessions=size,
    )


def _more_runs(
    comparison: ArmComparison, *, size: int, rule: DecisionRule, setting: ComparisonSetting
) -> Experiment:
    after, before = comparison.after, comparison.before
    low, high = sorted([after.corrupt / after.sessions, before.corrupt / before.sessions])
    have = min(len(after.launches), len(before.launches))
    total = MAX_RUNS + 1
    if low < high:
        sessions = normal_sessions_needed(high, low, alpha=rule.alpha_of_direction)
        total = runs_guess(sessions, sessions=size, rho=rule.rho_floor)
    if total > MAX_RUNS:
        return Experiment(
            kind=ExperimentKind.MORE_RUNS,
            text=(
                f"A difference as small as this would take more than {MAX_RUNS} runs an arm: ask "
                "for a larger one, or raise the load until the fault is frequent."
            ),
        )
    more = max(1, total - have)
    return Experiment(
        kind=ExperimentKind.MORE_RUNS,
        text=(
            f"{more} + {more} more runs of {size} in random order: about as many as show a "
            "difference like this with 80 % probability, if it is real."
        ),
        cost=cost_of(2 * more, sessions=size, each=setting.each_run),
        runs_after=more,
        runs_before=more,
        sessions=size,
    )


def _lower_limit(
    comparison: ArmComparison, *, size: int, rule: DecisionRule, setting: ComparisonSetting
) -> Experiment:
    have = len(comparison.after.launches)
    sizes = [launch.evidence for launch in comparison.after.launches]
    limit = clustered_upper_limit(
        comparison.after.corrupt,
        [*sizes, *[size] * have],
        rho=comparison.rho,
        confidence=rule.confidence,
    )
    return Experiment(
        kind=ExperimentKind.LOWER_LIMIT,
        text=(
            f"Nothing more is needed for {share_text(rule.p_max)}; "
            f"{counted_text(have, 'more clean run')} would lower the limit to "
            f"{share_text(limit)}."
        ),
        cost=cost_of(have, sessions=size, each=setting.each_run),
        runs_after=have,
        sessions=size,
    )
