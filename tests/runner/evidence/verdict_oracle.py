"""The rule of a verdict written down once more, by libraries only, for the recorded format.

Fixed plan, prediction of no corruption and no wedge; each run a launch of its own. Shares nothing
with what it checks.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import asin, sqrt
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import hypergeom, ttest_ind

from tests.runner.evidence.table_oracles import correlated_upper, total_law

Counts = list[tuple[int, int]]  # of each run: so many of so many
USUAL = {"p_max": 0.05, "alpha": 0.05, "rho_floor": 0.02, "rho_single": 0.05, "tol": 0.05}


def expected_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """The expected entries of a case with `treatment`, `control` and a `plan` as of the format."""
    plan = {**USUAL, "refuse": 0.2, **case["plan"]}
    alpha = plan["alpha"]
    after, before = (
        [(run["corrupt"], run["clean"], run["error"]) for run in case[arm]]
        for arm in ("treatment", "control")
    )
    corrupt, clean, silent = (sum(run[i] for run in after) for i in range(3))
    corrupt_before, clean_before, _ = (sum(run[i] for run in before) for i in range(3))
    sessions, evidence = corrupt + clean + silent, corrupt + clean
    wedges = sum(run["wedges"] for run in case["treatment"])
    icc = session_icc([[(k, k + c) for k, c, _ in arm] for arm in (after, before)])
    repeated = min(len(after), len(before)) >= 2
    rho = max(icc or 0.0, plan["rho_floor"] if repeated else plan["rho_single"])

    def of_all(arm: list[tuple[int, int, int]], *parts: int) -> Counts:
        return [(sum(run[i] for i in parts), sum(run)) for run in arm]

    def of_evidence(arm: list[tuple[int, int, int]]) -> Counts:
        return [(k, k + c) for k, c, _ in arm]

    p_errors_up = lower(of_all(before, 2), of_all(after, 2), rho)
    p_lower = lower(of_all(after, 0, 2), of_all(before, 0), rho)
    p_higher = lower(of_all(before, 0, 2), of_all(after, 0), rho)
    p_lower_pp = lower(of_evidence(after), of_evidence(before), rho)
    p_higher_pp = lower(of_evidence(before), of_evidence(after), rho)
    errors_up = p_errors_up <= alpha
    benign = silent / sessions <= plan["tol"] and wedges == 0 and not errors_up
    upper_pp = (
        correlated_upper(corrupt, [k + c for k, c, _ in after if k + c], rho) if evidence else 1.0
    )
    upper_worst = correlated_upper(corrupt + silent, [sum(run) for run in after], rho)
    policy, upper = "worst_case", upper_worst
    if evidence and not silent:
        policy, upper = "none_needed", upper_pp
    elif evidence and benign:
        seen = corrupt_before + clean_before
        policy = "jump_to_baseline"
        jump = corrupt_before / seen if seen else 1.0
        upper = evidence / sessions * upper_pp + silent / sessions * jump
    reasons = []
    if corrupt:
        reasons.append(f"criterion corruption == 0 failed ({corrupt} seen)")
    if wedges:
        reasons.append(f"criterion wedges == 0 failed ({wedges} seen)")
    if reasons:
        elimination = "refuted"
    elif upper <= plan["p_max"]:
        elimination = "confirmed"
    else:
        elimination = "inconclusive"
        censored = upper_pp <= plan["p_max"] and silent
        reasons.append(f"elimination:{'censoring' if censored else 'too_few_sessions'}")
    direction = "lower" if p_lower <= alpha else "higher" if p_higher <= alpha else "unclear"
    if direction == "unclear":
        if silent / sessions > plan["refuse"] or min(p_lower_pp, p_higher_pp) <= alpha:
            reasons.append("direction:censoring")
        else:
            why = "too_few_runs" if corrupt_before else "not_reproduced"
            reasons.append(f"direction:{why}")
    if errors_up:
        reasons.append("guardrail:errors_up")
    return {
        "n": sessions,
        "corrupt": corrupt,
        "errors": silent,
        "evaluable": evidence,
        "icc": icc,
        "rho_used": rho,
        "upper_pp": upper_pp,
        "upper_worst": upper_worst,
        "upper_used": upper,
        "policy": policy,
        "p_lower": p_lower,
        "p_lower_pp": p_lower_pp,
        "p_higher": p_higher,
        "p_higher_pp": p_higher_pp,
        "p_errors_up": p_errors_up,
        "p_clean_down": lower(of_all(after, 1), of_all(before, 1), rho),
        "elimination": elimination,
        "direction": direction,
        "availability": "worse" if errors_up else "not shown worse",
        "headline": _headline(elimination, direction, corrupt=corrupt, errors_up=errors_up),
        "reason": reasons,
    }


def _headline(elimination: str, direction: str, *, corrupt: int, errors_up: bool) -> str:
    if elimination == "refuted" and not corrupt:
        return "REFUTED"
    if elimination == "refuted":
        by_direction = {"lower": "IMPROVED_NOT_ELIMINATED", "higher": "WORSE"}
        return by_direction.get(direction, "REFUTED")
    if direction == "higher":
        return "WORSE"
    confirmed = elimination == "confirmed" and direction == "lower" and not errors_up
    return "CONFIRMED" if confirmed else "INCONCLUSIVE"


def lower(first: Counts, second: Counts, rho: float) -> float:
    """P-value of a lower rate in the first arm."""
    first, second = ([run for run in arm if run[1]] for arm in (first, second))
    if not first or not second:
        return 1.0
    if min(len(first), len(second)) == 1:
        return _boschloo(*_summed(first), *_summed(second), rho)
    scaled = [[asin(sqrt((k + 0.375) / (n + 0.75))) for k, n in arm] for arm in (first, second)]
    k1, n1 = _summed(first)
    k2, n2 = _summed(second)
    exact = _boschloo(k1, (sum(n1),), k2, (sum(n2),), 0.0)
    if all(np.ptp(arm) < 1e-12 for arm in scaled):
        gap = scaled[0][0] - scaled[1][0]
        return max(exact, 0.5 if abs(gap) < 1e-12 else float(gap > 0))
    return max(exact, float(ttest_ind(*scaled, alternative="less").pvalue))


def session_icc(arms: Sequence[Counts]) -> float | None:
    """Analysis of variance on the sessions one by one, arms with one run left out."""
    repeated = [[run for run in arm if run[1]] for arm in arms]
    repeated = [arm for arm in repeated if len(arm) > 1]
    if not repeated:
        return None
    between = within = size = 0.0
    runs_beyond = sessions_beyond = 0
    for arm in repeated:
        groups = [np.r_[np.ones(k), np.zeros(n - k)] for k, n in arm]
        every = np.concatenate(groups)
        between += sum(len(g) * (g.mean() - every.mean()) ** 2 for g in groups)
        within += sum(((g - g.mean()) ** 2).sum() for g in groups)
        size += len(every) - sum(len(g) ** 2 for g in groups) / len(every)
        runs_beyond += len(arm) - 1
        sessions_beyond += len(every) - len(groups)
    size, between = size / runs_beyond, between / runs_beyond
    within = within / sessions_beyond if sessions_beyond else 0.0
    scale = between + (size - 1) * within
    return float((between - within) / scale) if scale > 0 else 0.0


def _summed(arm: Counts) -> tuple[int, tuple[int, ...]]:
    return sum(k for k, _ in arm), tuple(n for _, n in arm)


@lru_cache(maxsize=1024)
def _boschloo(
    k1: int, sizes1: tuple[int, ...], k2: int, sizes2: tuple[int, ...], rho: float
) -> float:
    n1, n2 = sum(sizes1), sum(sizes2)
    x1, x2 = np.ogrid[: n1 + 1, : n2 + 1]
    ordering = hypergeom.cdf(x1, n1 + n2, x1 + x2, n1)
    region = (ordering <= ordering[k1, k2] * (1 + 1e-9)).astype(float)
    if region.all():
        return 1.0

    def probability(rate: float) -> float:
        return float(total_law(sizes1, rate, rho) @ region @ total_law(sizes2, rate, rho))

    rates = np.sin(np.linspace(1e-3, np.pi / 2 - 1e-3, 120)) ** 2
    values = np.array([probability(float(rate)) for rate in rates])
    best = max(float(values.max()), float(region[0, 0]), float(region[-1, -1]))
    for i in np.argsort(values)[-2:]:
        near = rates[max(0, i - 1)], rates[min(len(rates) - 1, i + 1)]
        found = minimize_scalar(
            lambda rate: -probability(rate), bounds=near, method="bounded", options={"xatol": 1e-8}
        )
        best = max(best, -float(found.fun))
    return best
