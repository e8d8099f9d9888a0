"""All that a verdict was made from, as JSON, so that it can be made again and compared."""

from typing import Any

from runner.campaign.prediction import Prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule


def inputs_of(
    prediction: Prediction,
    arm: ArmEvidence,
    versus: ArmEvidence,
    *,
    rule: DecisionRule,
    setting: ComparisonSetting,
) -> dict[str, Any]:
    return {
        "predict": str(prediction),
        "rule": {
            "claim": str(rule.claim),
            "ending": str(rule.ending),
            "tolerate": rule.p_max,
            "alpha": rule.alpha,
            "registered": rule.is_registered,
            "predicted_rate": rule.predicted_rate,
            "background": rule.background,
            "rho_floor": rule.rho_floor,
            "rho_single": rule.rho_single,
            "rho_max": rule.rho_max,
            "hypotheses": rule.hypotheses,
            "alternatives": [list(each) for each in rule.alternatives],
            "silent_tolerated": rule.silent_tolerated,
            "silent_refused": rule.silent_refused,
        },
        "arm": _of_arm(arm, setting),
        "versus": _of_arm(versus, setting),
        "scope": setting.scope,
        "undeclared_differences": list(setting.undeclared_differences),
        "implied_differences": list(setting.implied_differences),
        "unverified": list(setting.unverified),
        "concurrent": setting.is_versus_concurrent,
        "ended_by_rule": setting.ended_by_rule,
    }


def _of_arm(arm: ArmEvidence, setting: ComparisonSetting) -> dict[str, Any]:
    return {
        "name": arm.name,
        "blocks": arm.blocks,
        "runs": [
            {
                "run": run.label,
                "block": run.block,
                "launch": setting.launch_of.get(run.label),
                "state": str(run.state),
                "counts": {str(outcome): n for outcome, n in run.counts.by_outcome.items() if n},
                "corrupt": run.counts.corrupt,
                "evidence": run.counts.gave_evidence,
                "silent": run.counts.silent,
                "wedges": run.wedges,
                "wedge_requests": run.wedge_requests,
                "wedge_lines": run.wedge_lines,
                "flags": list(run.flags),
            }
            for run in arm.runs
        ],
    }
