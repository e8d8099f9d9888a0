"""From factors and exclusions to arms: the product, in the file's order; knows nothing of runs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from runner.campaign.campaign import CONCURRENCY, Arm, Campaign, Levels
from runner.campaign.file_shape import LevelValue, level_text

MAX_CHOICES = 10_000

_SAYS_NOTHING = re.compile(
    r"on|off|true|false|yes|no|none|null|default|auto|enabled?|disabled?"
    r"|[+-]?[\d_]*\.?\d+(?:e[+-]?\d+)?",
    re.IGNORECASE,
)
"""Levels that are only switches or numbers."""

Factors = Mapping[str, tuple[LevelValue, ...]]


def expand_arms(campaign: Campaign) -> tuple[Arm, ...]:
    """All choices of levels that no exclusion matches; the last factor varies fastest."""
    choices = kept_choices(campaign.factors, campaign.exclude)
    return tuple(_arm_of(campaign, levels, position) for position, levels in enumerate(choices))


def kept_choices(factors: Factors, exclude: Sequence[Levels]) -> Iterator[Levels]:
    for chosen in product(*factors.values()):
        levels = dict(zip(factors, chosen, strict=True))
        if not any(matches(levels, partial) for partial in exclude):
            yield levels


def matches(levels: Levels, partial: Levels) -> bool:
    """Whether `levels` has every level that `partial` names."""
    return all(
        factor in levels and level_text(levels[factor]) == level_text(level)
        for factor, level in partial.items()
    )


def completed_levels(factors: Factors, levels: Levels) -> Levels:
    """A level of every factor, in factor order and as the factor writes it.

    A factor with one level need not be named; raises KeyError for any other that is not.
    """
    return {
        name: own_level(declared, levels[name] if len(declared) > 1 else declared[0])
        for name, declared in factors.items()
    }


def own_level(declared: Sequence[LevelValue], level: LevelValue) -> LevelValue:
    """The declared level that is written like `level`. Raises KeyError where there is none."""
    by_text = {level_text(own): own for own in declared}
    return by_text[level_text(level)]


def number_of_choices(factors: Factors) -> int:
    return prod(len(levels) for levels in factors.values())


def arm_name(factors: Factors, levels: Levels) -> str:
    """`bf16 · hicache=on · fp8-sized · C=80`: what tells this arm from its siblings, in the order
    of factors.

    Where a level of a factor says nothing by itself, being a number, a switch, or a word of two
    factors, all of its levels are written with it; a factor with one level tells nothing and is
    left out, except the concurrency.
    """
    uses = Counter(level_text(level) for values in factors.values() for level in values)
    parts: list[str] = []
    for factor, values in factors.items():
        text = level_text(levels[factor])
        if factor == CONCURRENCY:
            parts.append(f"C={text}")
        elif len(values) > 1:
            tells = all(_tells_by_itself(level, uses) for level in values)
            parts.append(text if tells else f"{factor}={text}")
    return " · ".join(parts)


def _tells_by_itself(level: LevelValue, uses: Counter[str]) -> bool:
    text = level_text(level)
    return isinstance(level, str) and not _SAYS_NOTHING.fullmatch(text) and uses[text] == 1


def _arm_of(campaign: Campaign, levels: Levels, position: int) -> Arm:
    concurrency = int(levels[CONCURRENCY])
    tags = [
        campaign.tags[factor][level_text(level)]
        for factor, level in levels.items()
        if level_text(level) in campaign.tags.get(factor, {})
    ]
    return Arm(
        name=arm_name(campaign.factors, levels),
        levels=levels,
        concurrency=concurrency,
        sessions=campaign.workload.sessions_at(concurrency),
        tag="+".join(tags) or None,
        is_baseline=campaign.baseline is not None and matches(levels, campaign.baseline),
        position=position,
    )
