"""What to do next, and what it costs: the cheapest step that would move the verdict.

Steps without a run come first. Nothing is proposed that could not change the answer.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from db.vocabulary import Headline
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.launch_words import FRESH_LAUNCHES, Unit
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES
from runner.evidence.number_words import counted_text, plural_of, share_text
from runner.evidence.planner import MAX_RUNS
from runner.evidence.run_cost import NO_COST, Cost, RunCost, cost_of
from runner.evidence.silent_sessions import (
    LaunchCounts,
    SilentPolicy,
    silent_sessions_borne,
    upper_limits,
)
from runner.evidence.statistical_power import normal_sessions_needed, runs_guess
from runner.evidence.unreproduced import next_step_text, unreproduced
from runner.evidence.verdict_decision import Decision, ReasonCode

_MOST_MORE_RUNS = 64
_FREQUENT = 0.5
"""A rate from which on more load makes no fault easier to compare."""


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
    """`runs_after` and `runs_before` are to be added, each of `sessions`, in random order; where
    runs share launches, so many launches.
    """

    kind: ExperimentKind
    text: str
    cost: Cost = NO_COST
    runs_after: int = 0
    runs_before: int = 0
    sessions: int = 0


def next_experiments(
    comparison: ArmComparison,
    decision: Decision,
    *,
    rule: DecisionRule,
    setting: ComparisonSetting,
    wedged: bool,
    unit: Unit,
) -> tuple[Experiment, ...]:
    """In the order in which to do them. `wedged`: the changed arm shows signs of a wedge."""
    basis = _Basis(comparison, rule, setting, unit)
    return tuple(_experiments(basis, decision, wedged=wedged))


def more_clean_runs(comparison: ArmComparison, *, rule: DecisionRule) -> int | None:
    """Clean runs to add for the tolerated rate; None beyond what a campaign would do.

    The silent sessions stay, and count in the limit as they do now: a run more does not tell what
    they were.
    """
    launches, policy = comparison.after.launches, comparison.limits.policy
    before_rate = comparison.before.rate_of_evidence
    clean = LaunchCounts(clean=run_size(comparison), corrupt=0, silent=0)
    # Where the other arm has a single run, sessions stay as correlated as declared.
    repeated = len(comparison.before.launches) >= RUNS_TO_COMPARE_RATES
    floor = rule.rho_floor if repeated else rule.rho_single
    rho = max(floor, comparison.icc or 0.0)

    def reaches(more: int) -> bool:
        limits = upper_limits(
            [*launches, *[clean] * more],
            rho=rho,
            benign=policy is SilentPolicy.JUMP_TO_BASELINE,
            baseline_rate=1.0 if before_rate is None else before_rate.value,
            confidence=rule.confidence,
        )
        return limits.used <= rule.p_max

    candidates = range(1, _MOST_MORE_RUNS + 1)
    enough = bisect_left(candidates, True, key=reaches)  # a clean run more never raises the limit
    return candidates[enough] if enough < len(candidates) else None


def run_size(comparison: ArmComparison) -> int:
    return max(launch.sessions for launch in comparison.after.launches)


@dataclass(frozen=True, slots=True)
class _Basis:
    """What was compared, and what a run or a launch more is like."""

    comparison: ArmComparison
    rule: DecisionRule
    setting: ComparisonSetting
    unit: Unit

    @property
    def size(self) -> int:
        return run_size(self.comparison)

    @property
    def units(self) -> str:
        return plural_of(self.unit.noun)

    @property
    def in_fresh_launches(self) -> str:
        """Empty where a run more has a launch of its own as it is."""
        return f" For launches of their own {FRESH_LAUNCHES}." if self.unit.is_launch else ""

    @property
    def size_before(self) -> int:
        return max(launch.sessions for launch in self.comparison.before.launches)

    def cost(self, number: int, *, size: int | None = None) -> Cost:
        """Of so many runs, or launches; `size` where they are not of the changed arm."""
        each = self.setting.each_run
        whole = each and RunCost(each.launch_s, each.drive_s * self.unit.runs, each.gpus)
        return cost_of(number, sessions=size or self.size, each=whole, unit=self.unit.noun)


def _experiments(basis: _Basis, decision: Decision, *, wedged: bool) -> Iterator[Experiment]:
    censored = ReasonCode.DIRECTION_CENSORING in decision.codes or (
        ReasonCode.ELIMINATION_CENSORING in decision.codes
    )
    if wedged or censored or ReasonCode.SILENCE_ROSE in decision.codes:
        yield _find_silence(basis.comparison, wedged=wedged)
        yield _clean_comparison(basis)
        return
    if ReasonCode.DIRECTION_NOT_REPRODUCED in decision.codes:
        yield _reproduce(basis)
        return
    if decision.headline in (Headline.REFUTED, Headline.WORSE):
        yield Experiment(
            kind=ExperimentKind.COMPARE_SESSIONS,
            text="Read the first corrupt sessions of both arms side by side.",
        )
    if ReasonCode.ELIMINATION_TOO_FEW_SESSIONS in decision.codes:
        yield from _more_clean(basis)
    if ReasonCode.DIRECTION_TOO_FEW_RUNS in decision.codes:
        yield _more_runs(basis)
    if decision.headline is Headline.CONFIRMED:
        yield _lower_limit(basis)
    if decision.headline is Headline.IMPROVED_NOT_ELIMINATED:
        yield Experiment(
            kind=ExperimentKind.COMPARE_SESSIONS,
            text="Find what the corrupt sessions that are left share: decisive clusters CAMPAIGN.",
        )


def _find_silence(comparison: ArmComparison, *, wedged: bool) -> Experiment:
    what = "what wedged the server" if wedged else "why sessions fell silent"
    silent = counted_text(comparison.after.silent, "silent session")
    beside = f" and the first of the {silent}" if comparison.after.silent else ""
    return Experiment(
        kind=ExperimentKind.FIND_SILENCE,
        text=f"Find {what}: the first incident{beside}, by time.",
    )


def _clean_comparison(basis: _Basis) -> Experiment:
    runs, size, rule = 2, basis.size, basis.rule
    before_rate = basis.comparison.before.rate_of_evidence
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
            f"Then {runs} + {runs} {basis.units} of {size} in random order; a run of the changed "
            "arm may end at its first corrupt session where only elimination is asked."
            f"{bears}{basis.in_fresh_launches}"
        ),
        cost=basis.cost(2 * runs),
        runs_after=runs,
        runs_before=runs,
        sessions=size,
    )


def _reproduce(basis: _Basis) -> Experiment:
    found = unreproduced(basis.comparison, rule=basis.rule, setting=basis.setting, unit=basis.unit)
    is_excluded, size = found.has_played_enough, basis.size_before
    runs = found.units if is_excluded else ceil(found.sessions_needed / size)
    return Experiment(
        kind=ExperimentKind.REPRODUCE,
        text=f"{next_step_text(found)}{basis.in_fresh_launches if is_excluded else ''}",
        cost=basis.cost(runs, size=size),
        runs_before=runs,
        sessions=size,
    )


def _more_clean(basis: _Basis) -> Iterator[Experiment]:
    runs = more_clean_runs(basis.comparison, rule=basis.rule)
    if runs is None:
        return
    alone = len(basis.comparison.before.launches) < RUNS_TO_COMPARE_RATES
    beside = ", and one more of the arm compared with" if alone else ""
    yield Experiment(
        kind=ExperimentKind.MORE_CLEAN_RUNS,
        text=(
            f"{counted_text(runs, f'more {basis.unit.noun}')} of {basis.size} of the changed arm"
            f"{beside}: if no session is corrupt, at most {share_text(basis.rule.p_max)} is left."
            f"{basis.in_fresh_launches}"
        ),
        cost=basis.cost(runs + alone),
        runs_after=runs,
        runs_before=int(alone),
        sessions=basis.size,
    )


def _more_runs(basis: _Basis) -> Experiment:
    after, before, rule = basis.comparison.after, basis.comparison.before, basis.rule
    low, high = sorted([after.corrupt / after.sessions, before.corrupt / before.sessions])
    have = min(len(after.launches), len(before.launches))
    is_frequent = high >= _FREQUENT
    if low == high:
        load = "" if is_frequent else " A load under which the fault is frequent shows more."
        return Experiment(
            kind=ExperimentKind.MORE_RUNS,
            text=(
                f"As large a share was corrupt in both arms, so that no number of {basis.units} "
                "follows from it: decisive power BEFORE AFTER says how many show a difference "
                f"that would matter.{load}"
            ),
        )
    sessions = normal_sessions_needed(high, low, alpha=rule.alpha_of_direction)
    total = runs_guess(sessions, sessions=basis.size, rho=rule.rho_floor)
    if total > MAX_RUNS:
        load = "" if is_frequent else ", or raise the load until the fault is frequent"
        return Experiment(
            kind=ExperimentKind.MORE_RUNS,
            text=(
                f"A difference as small as this would take more than {MAX_RUNS} {basis.units} an "
                f"arm: ask for a larger one{load}."
            ),
        )
    more = max(1, total - have)
    return Experiment(
        kind=ExperimentKind.MORE_RUNS,
        text=(
            f"{more} + {more} more {basis.units} of {basis.size} in random order: about as many as "
            "show a difference like this with 80 % probability, if it is real."
            f"{basis.in_fresh_launches}"
        ),
        cost=basis.cost(2 * more),
        runs_after=more,
        runs_before=more,
        sessions=basis.size,
    )


def _lower_limit(basis: _Basis) -> Experiment:
    comparison, rule = basis.comparison, basis.rule
    have = len(comparison.after.launches)
    sizes = [launch.evidence for launch in comparison.after.launches]
    limit = clustered_upper_limit(
        comparison.after.corrupt,
        [*sizes, *[basis.size] * have],
        rho=comparison.rho,
        confidence=rule.confidence,
    )
    return Experiment(
        kind=ExperimentKind.LOWER_LIMIT,
        text=(
            f"Nothing more is needed for {share_text(rule.p_max)}; "
            f"{counted_text(have, f'more clean {basis.unit.noun}')} would lower the limit to "
            f"{share_text(limit)}.{basis.in_fresh_launches}"
        ),
        cost=basis.cost(have),
        runs_after=have,
        sessions=basis.size,
    )
