"""Whether what the levels of a stack file do and ask fits its services."""

from collections.abc import Iterator, Sequence

from runner.campaign.campaign import CONCURRENCY
from runner.campaign.config_problems import Problem, shown
from runner.campaign.file_shape import level_text
from runner.campaign.level_effect import LevelCheck, LevelEffect, ProofSource
from runner.campaign.stack_shape import (
    ControllerName,
    LogSource,
    ServiceDefinition,
    ServiceRole,
    StackShape,
)
from runner.campaign.yaml_source import YamlSource
from runner.campaign.yaml_values import KeyPath

_SOURCES = tuple(ProofSource)


def factor_problems(shape: StackShape, source: YamlSource) -> Iterator[Problem]:
    if CONCURRENCY in shape.factors:
        place = source.place_of_key(("factors", CONCURRENCY))
        yield Problem(place, "concurrency is the client's: a stack cannot define it")
    for factor, levels in shape.factors.items():
        for level, effect in levels.items():
            if effect is not None:
                check = _EffectCheck(shape, source, ("factors", factor, str(level)))
                yield from check.problems(effect)


class _EffectCheck:
    def __init__(self, shape: StackShape, source: YamlSource, path: KeyPath) -> None:
        self._shape = shape
        self._source = source
        self._path = path

    def problems(self, effect: LevelEffect) -> Iterator[Problem]:
        yield from self._unknown_places(effect.at, (*self._path, "at"))
        yield from self._arguments(effect)
        yield from self._endpoint(effect)
        if effect.undo and not effect.command:
            place = self._source.place_of_key((*self._path, "undo"))
            yield Problem(place, "undo leaves what a command has entered: name that command")
        for index, check in enumerate(effect.verify):
            path = (*self._path, "verify", str(index))
            yield from self._form(check, path)
            yield from self._conditions(check, (*path, "when"))
            yield from self._unknown_places(check.at, (*path, "at"))
            yield from self._source_of(check, effect)
        if effect.exercise and not any(s.metrics for s in self._shape.services.values()):
            place = self._source.place_of_key((*self._path, "exercise"))
            yield Problem(place, "the service offers no metrics to see the level exercised")

    def _arguments(self, effect: LevelEffect) -> Iterator[Problem]:
        for name, own in effect.services.items():
            path = (*self._path, "services", name)
            if name not in self._shape.services:
                place = self._source.place_of_key(path)
                yield Problem(place, "unknown service", name, tuple(self._shape.services))
            elif own.args and not _takes_arguments(self._shape.services[name]):
                yield self._no_place_for_arguments(name, path)
        if effect.args:
            for name in _services_at(self._shape, effect.at):
                if not _takes_arguments(self._shape.services[name]):
                    yield self._no_place_for_arguments(name, (*self._path, "args"))

    def _no_place_for_arguments(self, name: str, path: KeyPath) -> Problem:
        what = f"{name} takes no arguments: give its unit a command or an args_variable"
        return Problem(self._source.place_of_key(path), what)

    def _endpoint(self, effect: LevelEffect) -> Iterator[Problem]:
        for key in ("model", "api_key_env"):
            if getattr(effect, key) and effect.url is None:
                place = self._source.place_of_key((*self._path, key))
                yield Problem(place, f"{key} is read only with url")
        if effect.url is not None and effect.needs_restart:
            place = self._source.place_of_key((*self._path, "url"))
            what = "an endpoint takes requests only: no args, env, services or command beside url"
            yield Problem(place, what)

    def _form(self, check: LevelCheck, path: KeyPath) -> Iterator[Problem]:
        place = self._source.place_of_key(path)
        if len(check.sources) != 1:
            found = ", ".join(check.sources) or "none"
            yield Problem(place, "a proof has exactly one source", found, _SOURCES)
            return
        if check.absent and check.is_compared:
            yield Problem(place, "what is absent equals nothing and has no size")
        if not check.absent and not check.is_compared and check.source is not ProofSource.LOG:
            needed = ("equals", "at_least", "at_most", "absent")
            yield Problem(place, "a proof says what must stand there", "nothing", needed)

    def _conditions(self, check: LevelCheck, path: KeyPath) -> Iterator[Problem]:
        for factor, level in check.when.items():
            levels = [level_text(own) for own in self._shape.factors.get(factor, ())]
            if not levels:
                place = self._source.place_of_key((*path, factor))
                yield Problem(place, "unknown factor", factor, tuple(self._shape.factors))
            elif level_text(level) not in levels:
                place = self._source.place_of_value((*path, factor))
                yield Problem(place, f"unknown level of {factor}", shown(level), levels)

    def _source_of(self, check: LevelCheck, effect: LevelEffect) -> Iterator[Problem]:
        if len(check.sources) != 1 or (effect.url and check.source is ProofSource.MODELS):
            return
        asked = _services_at(self._shape, check.at)
        if effect.url or not any(offers(self._shape.services[n], check.source) for n in asked):
            place = self._source.place_of_key((*self._path, "verify"))
            where = "the endpoint" if effect.url else "the service"
            yield Problem(place, f"{where} offers no {check.source} to verify the level with")

    def _unknown_places(self, at: Sequence[str], path: KeyPath) -> Iterator[Problem]:
        roles = {str(service.role) for service in self._shape.services.values()}
        known = (*self._shape.services, *sorted(roles - set(self._shape.services)))
        for index, name in enumerate(at):
            if name not in known:
                place = self._source.place_of_value((*path, str(index)))
                yield Problem(place, "no service has this name or role", name, known)


def offers(service: ServiceDefinition, source: ProofSource) -> bool:
    """Whether a proof from this source can be asked of the service at all."""
    if source is ProofSource.SERVER_INFO:
        return service.server_info is not None
    if source is ProofSource.MODELS:
        return service.models is not None
    if source is ProofSource.LOG:
        return service.log is not LogSource.NONE
    return service.controller in (ControllerName.PROCESS, ControllerName.SYSTEMD)


def _takes_arguments(service: ServiceDefinition) -> bool:
    """An external service is given them by whoever switches it."""
    if service.controller is ControllerName.SYSTEMD:
        return bool(service.command or service.args_variable)
    return True


def _services_at(shape: StackShape, at: Sequence[str]) -> list[str]:
    return [
        name
        for name, service in shape.services.items()
        if (name in at or service.role in at) or (not at and service.role is not ServiceRole.ROUTER)
    ]
