"""The assessment of a plan as scripts read it."""

from typing import Any

from runner.cli.counted_verdict import cost_json
from runner.evidence.plan_assessment import HypothesisPlan


def hypothesis_json(each: HypothesisPlan) -> dict[str, Any]:
    found = each.assessment
    runs = each.runs_needed
    return {
        "id": each.hypothesis.id,
        "claim": each.hypothesis.claim,
        "predict": str(each.hypothesis.predict),
        "tolerate": each.hypothesis.tolerate,
        "arm": each.after.arm.name,
        "versus": each.before.arm.name,
        "runs_after": each.after.runs,
        "runs_before": each.before.runs,
        "counts_as_one": each.plan.unit,
        "before_rate": each.plan.before_rate,
        "after_rate": each.plan.after_rate,
        "icc": found.rho,
        "can_answer": found.can_answer,
        "shortcomings": list(found.shortcomings),
        "limit_if_clean": found.limit_if_clean,
        "clean_runs_needed": found.clean_runs_needed,
        "power": found.power,
        "smallest_effect_after_rate": found.smallest_effect,
        "runs_needed_for_power": each.runs_to_show,
        "runs_needed_per_arm": runs,
        "sessions_needed_per_arm": None if runs is None else runs * each.plan.sessions,
        "silent_borne": found.silent_borne,
        "wedge_limit": found.wedge_limit,
        "cost": cost_json(each.cost),
        "cost_needed": None if each.cost_needed is None else cost_json(each.cost_needed),
    }
