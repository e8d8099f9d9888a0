"""A campaign cut down to chosen levels and another order; adds nothing that its file lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner.campaign.campaign import Campaign, Hypothesis, Levels, Schedule, StopRule
from runner.campaign.file_shape import MAX_BLOCKS, MAX_SEED, LevelValue, level_text
from runner.campaign.matrix import Factors, kept_choices
from runner.errors import UsageError


def narrow_campaign(
    campaign: Campaign,
    chosen: Mapping[str, Sequence[LevelValue]],
    *,
    order_seed: int | None = None,
    blocks: int | None = None,
) -> Campaign:
    """Keeps of each factor in `chosen` the levels named there, and the others whole.

    `blocks` stands for the file's number of blocks. A hypothesis, a baseline or a known-good arm
    that is gone is dropped. Raises UsageError for a factor or level that the file does not list,
    where no arm is left, and for blocks that the looks of its stop rule were not planned for.
    """
    factors = {name: _kept(campaign, name, chosen) for name in campaign.factors}
    for name in chosen.keys() - factors.keys():
        raise UsageError(f"{campaign.name} has no factor {name}; it has: {', '.join(factors)}")
    if next(kept_choices(factors, campaign.exclude), None) is None:
        raise UsageError(f"{campaign.name}: its exclusions leave no arm of the chosen levels")
    return replace(
        campaign,
        factors=factors,
        baseline=_if_kept(factors, campaign.baseline),
        known_good=_if_kept(factors, campaign.known_good),
        schedule=_with_blocks(campaign, _reordered(campaign.schedule, order_seed), blocks),
        hypotheses=tuple(each for each in campaign.hypotheses if _is_testable(factors, each)),
    )


def _kept(
    campaign: Campaign, factor: str, chosen: Mapping[str, Sequence[LevelValue]]
) -> tuple[LevelValue, ...]:
    declared = campaign.factors[factor]
    if factor not in chosen:
        return declared
    wanted = [level_text(level) for level in chosen[factor]]
    known = [level_text(level) for level in declared]
    unknown = [text for text in wanted if text not in known]
    if unknown or not wanted:
        found = unknown[0] if unknown else "none"
        what = f"{campaign.name} has no such level of {factor}: {found}"
        raise UsageError(f"{what}; it has: {', '.join(known)}")
    return tuple(level for level in declared if level_text(level) in wanted)


def _reordered(schedule: Schedule, order_seed: int | None) -> Schedule:
    if order_seed is None:
        return schedule
    if not 0 <= order_seed <= MAX_SEED:
        raise UsageError(f"an order seed is a whole number from 0 to {MAX_SEED}, not {order_seed}")
    return schedule.model_copy(update={"order_seed": order_seed})


def _if_kept(factors: Factors, levels: Levels | None) -> Levels | None:
    return levels if levels is not None and _has(factors, levels) else None


def _with_blocks(campaign: Campaign, schedule: Schedule, blocks: int | None) -> Schedule:
    if blocks is None or blocks == schedule.blocks:
        return schedule
    if not 1 <= blocks <= MAX_BLOCKS:
        raise UsageError(f"a campaign has from 1 to {MAX_BLOCKS:,} blocks, not {blocks}")
    if campaign.stop is StopRule.TWO_LOOKS:
        raise UsageError(
            f"{campaign.name} is judged at looks that were planned for {schedule.blocks} blocks: "
            "its number of blocks cannot be changed"
        )
    return schedule.model_copy(update={"blocks": blocks})


def _has(factors: Factors, levels: Levels) -> bool:
    return all(levels[name] in declared for name, declared in factors.items())


def _is_testable(factors: Factors, hypothesis: Hypothesis) -> bool:
    return _has(factors, hypothesis.arm) and _has(factors, hypothesis.versus)
