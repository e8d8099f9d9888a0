"""What whoever runs a service that is not ours is asked to change for an arm, and how often."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from runner.campaign.campaign import CONCURRENCY, Levels
from runner.campaign.effect_checks import offers
from runner.campaign.file_shape import LevelValue, level_text
from runner.campaign.stack_file import ServiceSettings, Stack

Factors = Mapping[str, tuple[LevelValue, ...]]
_NOTHING = ServiceSettings((), ())


def wanted_change(stack: Stack, factors: Factors, levels: Levels, service: str) -> str:
    """What the levels of this arm add to the service, and what those of other arms leave there.

    Empty where neither do anything at it.
    """
    wanted = _settings_of(stack, levels, service)
    own_flags, own_names = _flags(wanted.args), {name for name, _ in wanted.env}
    others = [
        _settings_of(stack, {factor: level}, service)
        for factor, listed in factors.items()
        if factor != CONCURRENCY and factor in levels
        for level in listed
        if level_text(level) != level_text(levels[factor])
    ]
    left = [flag for each in others for flag in _flags(each.args) if flag not in own_flags]
    names = [name for each in others for name, _ in each.env if name not in own_names]
    parts = [
        ("add", [shlex.join(wanted.args)] if wanted.args else []),
        ("set", [shlex.quote(f"{name}={value}") for name, value in wanted.env]),
        ("remove", [shlex.join(flag) for flag in left]),
        ("unset", names),
    ]
    return ", ".join(f"{verb} {' '.join(dict.fromkeys(words))}" for verb, words in parts if words)


def proving_services(stack: Stack, levels: Levels) -> tuple[str, ...]:
    """Those of others that must prove this arm; nobody is asked for what nothing can prove."""
    if stack.endpoint_of(levels) is not None:
        return ()
    checks = [check for _, effect in stack.effects_of(levels) for check in effect.verify]
    return tuple(
        name
        for name, definition in stack.services.items()
        if not definition.controller.is_ours
        and any(
            offers(definition, check.source) and name in stack.services_at(check.at)
            for check in checks
        )
    )


def count_switches(stack: Stack, factors: Factors, arms: Iterable[Levels]) -> int:
    """How often somebody is asked at most, in this order of arms: how it is found is not known."""
    count = 0
    last: Mapping[str, ServiceSettings] = {}
    for levels in arms:
        names = proving_services(stack, levels)
        now = {name: _settings_of(stack, levels, name) for name in names}
        changed = [name for name in names if last.get(name) != now[name]]
        count += any(wanted_change(stack, factors, levels, name) for name in changed)
        last = {**last, **now}
    return count


def _settings_of(stack: Stack, levels: Levels, service: str) -> ServiceSettings:
    return dict(stack.launch_settings(levels).services).get(service, _NOTHING)


def _flags(args: Sequence[str]) -> list[tuple[str, ...]]:
    """Each flag with its values; words before the first flag stand alone."""
    found: list[tuple[str, ...]] = []
    for word in args:
        if word.startswith("-") or not found or not found[-1][0].startswith("-"):
            found.append((word,))
        else:
            found[-1] = (*found[-1], word)
    return found
