"""Finds the arm of a stored campaign that a command names."""

from collections.abc import Sequence

from db.identifiers import IdKind, format_id, parse_id
from db.reads.campaigns import ArmFacts
from runner.campaign.file_shape import level_text
from runner.errors import UsageError

_BASELINE = "baseline"


def find_arm(arms: Sequence[ArmFacts], text: str) -> ArmFacts:
    """By its id, its name, `baseline`, or by levels that only one arm has.

    Raises UsageError.
    """
    found = [arm for arm in arms if _is_named(arm, text)] or _with_levels(arms, text)
    if len(found) == 1:
        return found[0]
    listed = "; ".join(f"{format_id(IdKind.ARM, arm.id)} {arm.name}" for arm in (found or arms))
    if found:
        raise UsageError(f"{len(found)} arms have {text}: name one of {listed}")
    raise UsageError(f"the campaign has no arm {text!r}; it has: {listed}")


def _is_named(arm: ArmFacts, text: str) -> bool:
    if text == _BASELINE:
        return arm.is_baseline
    return text == arm.name or parse_id(IdKind.ARM, text) == arm.id


def _with_levels(arms: Sequence[ArmFacts], text: str) -> list[ArmFacts]:
    """`hicache=on,gate=all`; no arm where the text is nothing like that."""
    wanted = [pair.partition("=") for pair in text.split(",")]
    if not all(separator for _, separator, _ in wanted):
        return []
    return [
        arm
        for arm in arms
        if all(
            name.strip() in arm.levels and level_text(arm.levels[name.strip()]) == level.strip()
            for name, _, level in wanted
        )
    ]
