"""Keys that say whether two campaigns or runs are the same; knows what counts for that, no more."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from runner.campaign.campaign import Arm, Campaign, Hypothesis, Levels
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack

_OF_THE_CLAIMS = frozenset({"hypotheses", "known_good"})


def definition_key(campaign: Campaign, stack: Stack) -> str:
    """SHA-256, in hexadecimal, of `definition_of` without hypotheses, background, and blocks.

    These decide no session, so that a campaign stays the same when they change: a hypothesis has a
    key of its own, `hypothesis_key`, and one that was not known at the first run is not
    registered; more blocks extend the campaign, and its verdicts say so.
    """
    definition = definition_of(campaign, stack)
    kept = {key: definition[key] for key in definition.keys() - _OF_THE_CLAIMS}
    return _digest({**kept, "schedule": {**definition["schedule"], "blocks": None}})


def hypothesis_key(hypothesis: Hypothesis, known_good: Levels | None) -> str:
    """SHA-256, in hexadecimal, of all that decides how the hypothesis is judged."""
    background = None if known_good is None else _as_text(known_good)
    return _digest({**_hypothesis_definition(hypothesis), "known_good": background})


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
        "known_good": None if campaign.known_good is None else dict(campaign.known_good),
        "workload": campaign.workload.model_dump(mode="json"),
        "workload_files": dict(campaign.workload_files),
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
            "levels": _as_text(arm.levels),
            "sessions": arm.sessions,
            "workload": campaign.workload.model_dump(mode="json", exclude={"sessions"}),
            "workload_files": dict(campaign.workload_files),
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
        "goal": str(hypothesis.goal),
        "predicted_rate": hypothesis.predicted_rate,
    }


def _as_text(levels: Levels) -> dict[str, str]:
    return {factor: level_text(level) for factor, level in levels.items()}


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
