"""Which levels the baseline's corruption needs, from the cells of a stored campaign."""

from collections.abc import Mapping

from runner.campaign.file_shape import level_text
from runner.evidence.attribution_words import attribution_sentence, removal_lines
from runner.evidence.factorial_attribution import Cell, attribute
from runner.evidence.verdict_validity import launches_of
from runner.execute.campaign_evidence import CampaignEvidence


def attribution_lines(evidence: CampaignEvidence) -> tuple[str, ...]:
    """A sentence, then a line for each level that was taken away; empty without a corrupt baseline.

    A level is taken away by an arm that differs from the baseline in it alone.
    """
    baseline = next((arm for arm in evidence.arms if arm.is_baseline), None)
    if baseline is None:
        return ()
    cells = {arm.id: _cell(evidence, arm.id) for arm in evidence.arms}
    failing = cells.pop(baseline.id)
    others = [cell for cell in cells.values() if cell.launches]
    instead = _instead(failing, others)
    if not failing.launches or not failing.totals.corrupt or not instead:
        return ()
    found = attribute(failing, others, instead=instead)
    return (attribution_sentence(found), *removal_lines(found))


def _cell(evidence: CampaignEvidence, arm_id: int) -> Cell:
    levels = {name: level_text(level) for name, level in evidence.arm(arm_id).levels.items()}
    setting = evidence.setting(arm_id, arm_id)
    return Cell(levels, launches_of(evidence.of_arm(arm_id), setting=setting))


def _instead(failing: Cell, others: list[Cell]) -> Mapping[str, str]:
    """Factor to the level of the first cell that differs from the failing one in it alone."""
    found: dict[str, str] = {}
    for cell in others:
        differing = [name for name in failing.levels if cell.levels[name] != failing.levels[name]]
        if len(differing) == 1:
            found.setdefault(differing[0], cell.levels[differing[0]])
    return found
