"""Recorded verdicts with the right answers: makes each anew and says what differs.

The format is that of `verdict_cases.json`: runs as clean, corrupt, error and wedges of `treatment`
and `control`, a `plan`, and what is `expected`.
"""

from collections.abc import Callable, Iterator, Mapping
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
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.campaign_verdict import CampaignVerdict, Question, judge_hypothesis
from runner.evidence.counts import SessionCounts
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.given_numbers import agrees
from runner.evidence.recorded_tables import Difference

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
    plan = case["plan"]
    fields = {ours: plan[theirs] for theirs, ours in _RULE_FIELDS.items() if theirs in plan}
    claim = ClaimKind(plan.get("claim", ClaimKind.ELIMINATE))
    return Question(
        prediction=_prediction(plan),
        arm=_arm("treatment", case["treatment"]),
        versus=_arm("control", case["control"]),
        rule=DecisionRule(**fields, claim=claim),
    )


def verdict_differences(
    name: str, case: Mapping[str, Any]
) -> Iterator[tuple[str, Difference | None]]:
    """Each expected entry of a case, with what differs or None."""
    verdict = judge_hypothesis(recorded_question(case))
    for quantity, given in case["expected"].items():
        computed = _computed(quantity, verdict)
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
_UNKNOWN = "unknown quantity"


def _computed(quantity: str, verdict: CampaignVerdict) -> Any:
    if quantity in ("elimination", "direction", "availability", "headline"):
        return str(getattr(verdict, quantity))
    if quantity == "reason":
        return sorted(verdict.reason_codes)
    if quantity not in _NUMBERS:
        return _UNKNOWN
    return None if verdict.comparison is None else _NUMBERS[quantity](verdict.comparison)


def _fits(quantity: str, computed: Any, given: Any) -> bool:
    if computed is None or given is None:
        return computed is given
    if quantity == "reason":
        return isinstance(given, list) and set(given) == set(computed)
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
    return word.casefold().replace("-", "_").replace(" ", "_")


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


def _arm(name: str, runs: list[Mapping[str, Any]]) -> ArmEvidence:
    return ArmEvidence(
        name=name,
        blocks=len(runs),
        runs=tuple(_run(f"{name} {i}", i, run) for i, run in enumerate(runs, start=1)),
    )


def _run(label: str, block: int, run: Mapping[str, Any]) -> RunEvidence:
    counts = {
        Outcome.DONE: int(run["clean"]),
        Outcome.LEAK: int(run["corrupt"]),
        Outcome.ERROR: int(run["error"]),
    }
    wedges = run.get("wedges", 0)
    return RunEvidence(
        label=label,
        block=block,
        state=RunState.DONE,
        counts=SessionCounts(counts),
        wedges=None if wedges is None else int(wedges),
    )
