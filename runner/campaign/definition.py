"""Keys that say whether two campaigns or runs are the same; knows what counts for that, no more."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from runner.campaign.campaign import Arm, Campaign, Hypothesis
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack


def definition_key(campaign: Campaign, stack: Stack) -> str:
    """SHA-256, in hexadecimal, of `definition_of`."""
    return _digest(definition_of(campaign, stack))


def definition_of(campaign: Campaign, stack: Stack) -> dict[str, Any]:
    """All that decides what is measured and how it is judged, as JSON.

    Left out is what only readers need: question, comments, layout, the place of the file, and who
    is notified.
    """
    return {
        "campaign": campaign.name,
        "factors": {name: list(levels) for name, levels in campaign.factors.items()},
        "exclude": [dict(levels) for levels in campaign.exclude],
        "baseline": None if campaign.baseline is None else dict(campaign.baseline),
        "workload": campaign.workload.model_dump(mode="json"),
        "schedule": campaign.schedule.model_dump(mode="json"),
        "corrupt": sorted(campaign.corrupt),
        "stop": campaign.stop,
        "on_wedge": campaign.on_wedge,
        "longest_pause_s": campaign.longest_pause_s,
        "hypotheses": [_hypothesis_definition(each) for each in campaign.hypotheses],
        "stack": stack.definition(campaign.factors),
    }


def run_key(campaign: Campaign, arm: Arm, block: int) -> str:
    """Says within one campaign that a run is the one that is due: same arm, workload and block."""
    return _digest(
        {
            "levels": {factor: level_text(level) for factor, level in arm.levels.items()},
            "sessions": arm.sessions,
            "workload": campaign.workload.model_dump(mode="json", exclude={"sessions"}),
            "stop": campaign.stop,
            "on_wedge": campaign.on_wedge,
            "block": block,
        }
    )


def _hypothesis_definition(hypothesis: Hypothesis) -> dict[str, Any]:
    return {
        "id": hypothesis.id,
        "arm": dict(hypothesis.arm),
        "versus": dict(hypothesis.versus),
        "predict": str(hypothesis.predict),
        "tolerate": hypothesis.tolerate,
    }


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
