"""Which levels the baseline's corruption needs, from the cells of a stored campaign."""

from collections.abc import Mapping

from db.reads.campaigns import ArmFacts
from runner.campaign.file_shape import level_text
from runner.evidence.attribution_words import attribution_sentence, removal_lines
from runner.evidence.factorial_attribution import Cell, attribute
from runner.evidence.verdict_validity import invalidities, launches_of
from runner.execute.campaign_evidence import CampaignEvidence


def attribution_lines(evidence: CampaignEvidence) -> tuple[str, ...]:
    """A sentence, a line for each level that was taken away, one for each cell that says nothing.

    A level is taken away by an arm that differs from the baseline in it alone. An arm whose
    evidence does not hold (not verified, not exercised, ...) is no cell. Empty without a corrupt
    baseline.
    """
    baseline = next((arm for arm in evidence.arms if arm.is_baseline), None)
    if baseline is None:
        return ()
    failing = _cell(evidence, baseline)
    doubts = {arm.id: _doubt(evidence, arm, baseline) for arm in evidence.arms}
    others = [
        cell
        for arm in evidence.arms
        if arm.id != baseline.id and not doubts[arm.id]
        for cell in [_cell(evidence, arm)]
        if cell.launches
    ]
    unused = tuple(
        f"Not used: {arm.name}: {doubts[arm.id].removeprefix(f'{arm.name}: ')}."
        for arm in evidence.arms
        if doubts[arm.id] and evidence.of_arm(arm.id).done
    )
    if doubts[baseline.id] or not failing.launches or not failing.totals.corrupt:
        return ()
    instead = _instead(failing, others)
    if not instead:
        return unused
    found = attribute(failing, others, instead=instead)
    return (attribution_sentence(found), *removal_lines(found), *unused)


def _doubt(evidence: CampaignEvidence, arm: ArmFacts, baseline: ArmFacts) -> str:
    """Why its runs say nothing of the levels in which it differs; empty where they do."""
    own = evidence.of_arm(arm.id)
    setting = evidence.setting(arm.id, baseline.id)
    return "; ".join(doubt.text for doubt in invalidities(own, own, setting=setting)[:1])


def _cell(evidence: CampaignEvidence, arm: ArmFacts) -> Cell:
    levels = {name: level_text(level) for name, level in arm.levels.items()}
    setting = evidence.setting(arm.id, arm.id)
    return Cell(levels, launches_of(evidence.of_arm(arm.id), setting=setting))


def _instead(failing: Cell, others: list[Cell]) -> Mapping[str, str]:
    """Factor to the level of the first cell that differs from the failing one in it alone."""
    found: dict[str, str] = {}
    for cell in others:
        differing = [name for name in failing.levels if cell.levels[name] != failing.levels[name]]
        if len(differing) == 1:
            found.setdefault(differing[0], cell.levels[differing[0]])
    return found
