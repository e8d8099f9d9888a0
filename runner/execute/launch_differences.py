"""What the levels of a stored campaign declare, so that other differences of its arms stand out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from db.reads.campaigns import ArmFacts
from runner.campaign.file_shape import level_text
from runner.evidence.fingerprint_differences import (
    Launch,
    declared_settings,
    fingerprint_differences,
)


class LaunchDifferences(NamedTuple):
    """Of two arms, as sentences: what no level declares, and what levels imply."""

    undeclared: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()


def launch_differences(
    after: Sequence[Launch],
    before: Sequence[Launch],
    *,
    declared: frozenset[str],
    implied: frozenset[str],
) -> LaunchDifferences:
    """`declared` and `implied` are names of settings."""
    undeclared = fingerprint_differences(after, before, declared=declared | implied)
    of_either = fingerprint_differences(after, before, declared=declared)
    return LaunchDifferences(undeclared, tuple(x for x in of_either if x not in undeclared))


def declared_between(
    definition: Mapping[str, Any], first: ArmFacts, second: ArmFacts
) -> frozenset[str]:
    """The settings that the levels in which two arms differ set or prove.

    `definition` is that of the campaign, with the effects of the stack's levels.
    """
    effects = list(_effects_of(definition, first, second))
    return declared_settings(
        [word for effect in effects for word in _words(effect)],
        [path for effect in effects for path in _paths(effect)],
    )


def implied_between(
    definition: Mapping[str, Any], first: ArmFacts, second: ArmFacts
) -> frozenset[str]:
    """The settings that follow from the levels in which two arms differ, by the stack file."""
    effects = _effects_of(definition, first, second)
    return declared_settings([], [name for each in effects for name in each.get("implies") or ()])


def are_endpoints(definition: Mapping[str, Any], first: ArmFacts, second: ArmFacts) -> bool:
    """Whether the arms are different servers by design, so that nothing of them need agree."""
    return any(effect.get("url") for effect in _effects_of(definition, first, second))


def _effects_of(
    definition: Mapping[str, Any], first: ArmFacts, second: ArmFacts
) -> Iterator[Mapping[str, Any]]:
    factors = definition.get("stack", {}).get("factors", {})
    for factor, levels in factors.items():
        own, other = first.levels.get(factor), second.levels.get(factor)
        if own is None or other is None or level_text(own) == level_text(other):
            continue
        for level in (own, other):
            yield levels.get(level_text(level), {})


def _words(effect: Mapping[str, Any]) -> Iterator[str]:
    yield from effect.get("args") or ()
    for own in (effect.get("services") or {}).values():
        yield from own.get("args") or ()


def _paths(effect: Mapping[str, Any]) -> Iterator[str]:
    for check in effect.get("verify") or ():
        path = check.get("server_info") or check.get("models")
        if path:
            yield path
