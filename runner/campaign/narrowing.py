"""A campaign cut down to chosen levels and another order; adds nothing that its file lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner.campaign.campaign import Campaign, Hypothesis, Levels, Schedule
from runner.campaign.file_shape import MAX_SEED, LevelValue, level_text
from runner.campaign.matrix import Factors, kept_choices
from runner.errors import UsageError


def narrow_campaign(
    campaign: Campaign,
    chosen: Mapping[str, Sequence[LevelValue]],
    *,
    order_seed: int | None = None,
) -> Campaign:
    """Keeps of each factor in `chosen` the levels named there, and the others whole.

    A hypothesis, a baseline or a known-good arm that is gone is dropped. Raises UsageError for a
    factor or level that the file does not list, and where no arm is left.
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
        schedule=_reordered(campaign.schedule, order_seed),
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


def _has(factors: Factors, levels: Levels) -> bool:
    return all(levels[name] in declared for name, declared in factors.items())


def _is_testable(factors: Factors, hypothesis: Hypothesis) -> bool:
    return _has(factors, hypothesis.arm) and _has(factors, hypothesis.versus)
