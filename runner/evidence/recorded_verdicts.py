"""Recorded verdicts with the right answers: makes each anew and says what differs.

The format is that of `verdict_cases.json`: runs as clean, corrupt, error and wedges of `treatment`
and `control`, a `plan`, and what is `expected`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from db.vocabulary import Outcome, RunState
from runner.campaign.prediction import (
    CORRUPT,
    MAX_LIMIT,
    WEDGES,
    Comparison,
    Criterion,
    Prediction,
)
from runner.evidence.arm_comparison import ArmComparison, compare_arms
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.campaign_verdict import CampaignVerdict, Question, judge_hypothesis
from runner.evidence.counts import SessionCounts
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.given_numbers import agrees, share, whole_number
from runner.evidence.recorded_tables import Difference, Entry, NotComputed, is_remark
from runner.evidence.verdict_validity import launches_of

_RULE_FIELDS = {
    "p_max": "p_max",
    "alpha": "alpha",
    "rho_floor": "rho_floor",
    "rho_single": "rho_single",
    "tol": "silent_tolerated",
    "refuse": "silent_refused",
    "background": "background",
    "predicted_rate": "predicted_rate",
}


def recorded_question(case: Mapping[str, Any]) -> Question:
    """Raises KeyError or ValueError for what is not in the format."""
    plan = case.get("plan") or {}
    fields: dict[str, Any] = {
        ours: share(plan[theirs], name=theirs)
        for theirs, ours in _RULE_FIELDS.items()
        if plan.get(theirs) is not None
    }
    claim = plan.get("claim", ClaimKind.ELIMINATE)
    if claim not in list(ClaimKind):
        raise ValueError(f"claim is one of {', '.join(ClaimKind)}, not {claim!r}")
    return Question(
        prediction=_prediction(plan),
        arm=_arm("treatment", case["treatment"]),
        versus=_arm("control", case["control"]),
        rule=DecisionRule(**fields, claim=ClaimKind(claim)),
    )


def verdict_differences(name: str, case: Mapping[str, Any]) -> Iterator[tuple[str, Entry]]:
    """Each expected entry of a case, with what became of it."""
    expected = case["expected"].items()
    question = recorded_question(case)
    verdict = judge_hypothesis(question)
    comparison = _whole_comparison(question, verdict)
    for quantity, given in expected:
        if is_remark(quantity):
            continue
        if quantity not in _ANSWERS and quantity not in _NUMBERS:
            yield quantity, NotComputed(name, quantity)
            continue
        computed = _computed(quantity, verdict, comparison)
        fits = _fits(quantity, computed, given)
        yield quantity, None if fits else Difference(name, quantity, given, computed)


_NUMBERS: Mapping[str, Callable[[ArmComparison], Any]] = {
    "n": lambda c: c.after.sessions,
    "corrupt": lambda c: c.after.corrupt,
    "errors": lambda c: c.after.silent,
    "evaluable": lambda c: c.after.evidence,
    "censored": lambda c: c.after.silent_share,
    "rate_evaluable": lambda c: _rate_of_evidence(c),
    "bounds": lambda c: [rate.value for rate in c.after.bounds],
    "bounds_ci": lambda c: list(c.after.bounds_limits),
    "icc": lambda c: c.icc,
    "rho_used": lambda c: c.rho,
    "upper_pp": lambda c: c.limits.evidence_only,
    "upper_worst": lambda c: c.limits.worst_case,
    "upper_used": lambda c: c.limits.used,
    "policy": lambda c: str(c.limits.policy),
    "p_lower": lambda c: c.p_lower,
    "p_lower_pp": lambda c: c.p_lower_evidence_only,
    "p_higher": lambda c: c.p_higher,
    "p_higher_pp": lambda c: c.p_higher_evidence_only,
    "p_errors_up": lambda c: c.p_silent_up,
    "p_clean_down": lambda c: c.p_clean_down,
    "tipping_icc": lambda c: c.tipping,
}
_COUNTS = frozenset({"n", "corrupt", "errors", "evaluable"})
_ANSWERS = ("elimination", "direction", "availability", "headline", "reason")


def _whole_comparison(question: Question, verdict: CampaignVerdict) -> ArmComparison | None:
    """The numbers of all runs, also where a verdict was reached without some clean sessions."""
    if verdict.comparison is None or not verdict.comparison.surplus:
        return verdict.comparison
    after, before = (
        launches_of(arm, setting=question.setting) for arm in (question.arm, question.versus)
    )
    return compare_arms(after, before, rule=question.rule, wedges=question.arm.wedges)


def _computed(quantity: str, verdict: CampaignVerdict, comparison: ArmComparison | None) -> Any:
    if quantity == "reason":
        return sorted(verdict.reason_codes)
    if quantity in _ANSWERS:
        return str(getattr(verdict, quantity))
    return None if comparison is None else _NUMBERS[quantity](comparison)


def _fits(quantity: str, computed: Any, given: Any) -> bool:
    if computed is None or given is None:
        return computed is given
    if quantity == "reason":
        given = [given] if isinstance(given, str) else given
        return isinstance(given, list) and {_plain(x) for x in given} == {
            _plain(x) for x in computed
        }
    if isinstance(computed, str):
        return isinstance(given, str) and _plain(given) == _plain(computed)
    if quantity in _COUNTS:
        return bool(computed == given)
    if isinstance(computed, list):
        if not isinstance(given, list) or len(given) != len(computed):
            return False
        return all(agrees(c, g) for c, g in zip(computed, given, strict=True))
    return agrees(computed, given)


def _plain(word: str) -> str:
    """`Improved, not eliminated` is IMPROVED_NOT_ELIMINATED."""
    return re.sub(r"[\W_]+", "_", str(word).casefold()).strip("_")


def _rate_of_evidence(comparison: ArmComparison) -> list[float] | None:
    rate, limits = comparison.after.rate_of_evidence, comparison.after.limits_of_evidence
    return None if rate is None or limits is None else [rate.value, *limits]


def _prediction(plan: Mapping[str, Any]) -> Prediction:
    """Where zero corruption is no criterion, its rate still is what the claim is about."""
    corrupt = 0 if plan.get("require_zero_corrupt", True) else MAX_LIMIT
    criteria = [Criterion(CORRUPT, Comparison.AT_MOST if corrupt else Comparison.EQUAL, corrupt)]
    if plan.get("require_zero_wedges", True):
        criteria.append(Criterion(WEDGES, Comparison.EQUAL, 0))
    return Prediction(tuple(criteria))


def _arm(name: str, runs: Sequence[Mapping[str, Any]]) -> ArmEvidence:
    return ArmEvidence(
        name=name,
        blocks=len(runs),
        runs=tuple(_run(f"{name} {i}", i, run) for i, run in enumerate(runs, start=1)),
    )


def _run(label: str, block: int, run: Mapping[str, Any]) -> RunEvidence:
    """`error`, or `silent`, is none where the file leaves it out, and so are `wedges`."""
    silent = "silent" if "silent" in run else "error"
    counts = {
        Outcome.DONE: _count(run["clean"], label, "clean"),
        Outcome.LEAK: _count(run["corrupt"], label, "corrupt"),
        Outcome.ERROR: _count(run.get(silent, 0), label, silent),
    }
    wedges = run.get("wedges", 0)
    return RunEvidence(
        label=label,
        block=block,
        state=RunState.DONE,
        counts=SessionCounts(counts),
        wedges=None if wedges is None else _count(wedges, label, "wedges"),
    )


def _count(given: Any, label: str, name: str) -> int:
    return whole_number(given, name=f"{name} of {label}")
