"""Every number of a comparison by name, as JSON: for scripts, reports and the store."""

from math import isfinite
from typing import Any

from runner.evidence.arm_comparison import ArmComparison, ArmTotals, best_clusters
from runner.evidence.boschloo import Counted, boschloo_less
from runner.evidence.clustered_difference import clustered_difference
from runner.evidence.difference_intervals import (
    agresti_caffo_difference,
    miettinen_nurminen_difference,
    newcombe_difference,
)
from runner.evidence.fisher import fisher_less
from runner.evidence.proportion_limits import clopper_pearson, jeffreys
from runner.evidence.rates import Interval, Rate
from runner.evidence.ratio_intervals import katz_ratio, koopman_ratio


def comparison_numbers(comparison: ArmComparison) -> dict[str, Any]:
    """Rates of all sessions, silent ones as clean; intervals two-sided 95 %; p-values one-sided.

    What is said to be of independent sessions decides nothing.
    """
    limits = comparison.limits
    return {
        "after": arm_numbers(comparison.after),
        "before": arm_numbers(comparison.before),
        **_intervals(comparison),
        "method": str(comparison.method),
        "p_lower": comparison.p_lower,
        "p_lower_evidence_only": comparison.p_lower_evidence_only,
        "p_higher": comparison.p_higher,
        "p_higher_evidence_only": comparison.p_higher_evidence_only,
        "p_silent_up": comparison.p_silent_up,
        "p_clean_down": comparison.p_clean_down,
        "icc": comparison.icc,
        "rho": comparison.rho,
        "tipping_icc": comparison.tipping,
        "upper_limit": {
            "evidence_only": limits.evidence_only,
            "worst_case": limits.worst_case,
            "used": limits.used,
            "policy": str(limits.policy),
        },
    }


def _intervals(comparison: ArmComparison) -> dict[str, Any]:
    after, before = comparison.after, comparison.before
    first, second = Rate(after.corrupt, after.sessions), Rate(before.corrupt, before.sessions)
    clusters = best_clusters(after), best_clusters(before)
    return {
        "difference": {
            "value": first.value - second.value,
            "clustered": list(clustered_difference(*clusters, rho=comparison.rho)),
            "newcombe": list(newcombe_difference(first, second)),
            "miettinen_nurminen": list(miettinen_nurminen_difference(first, second)),
            "agresti_caffo": list(agresti_caffo_difference(first, second)),
        },
        "ratio": {
            "koopman": _finite(koopman_ratio(first, second)),
            "katz": _finite(katz_ratio(first, second)),
        },
        "independent": {
            "boschloo_less": boschloo_less(_pooled(after), _pooled(before)),
            "boschloo_greater": boschloo_less(_pooled(before), _pooled(after)),
            "fisher_less": fisher_less(first.count, first.of, second.count, second.of),
        },
    }


def arm_numbers(arm: ArmTotals) -> dict[str, Any]:
    """All three denominators, with their intervals."""
    rate, evidence = Rate(arm.corrupt, arm.sessions), arm.rate_of_evidence
    return {
        "runs": len(arm.launches),
        "sessions": arm.sessions,
        "corrupt": arm.corrupt,
        "silent": arm.silent,
        "clean": arm.clean,
        "evidence": arm.evidence,
        "rate": rate.value,
        "wilson": list(rate.wilson()),
        "clopper_pearson": list(clopper_pearson(rate)),
        "jeffreys": list(jeffreys(rate)),
        "rate_of_evidence": None if evidence is None else evidence.value,
        "clopper_pearson_of_evidence": (
            None if evidence is None else list(clopper_pearson(evidence))
        ),
        "bounds": [each.value for each in arm.bounds],
        "bounds_limits": list(arm.bounds_limits),
    }


def _pooled(arm: ArmTotals) -> Counted:
    return Counted(arm.corrupt, (arm.sessions,))


def _finite(interval: Interval | None) -> list[float | None] | None:
    """JSON has no infinity: None stands for no upper limit."""
    if interval is None:
        return None
    return [end if isfinite(end) else None for end in interval]
