"""What a stack is: its services, and what each level of a factor does and how that is proved.

Values and their file format only; starting and asking services is not known here.
The keys are documented in configs/README.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from runner.campaign.campaign import CONCURRENCY, Levels
from runner.campaign.config_problems import raise_problems
from runner.campaign.file_shape import LevelValue, level_text, read_shape
from runner.campaign.level_effect import LevelEffect
from runner.campaign.matrix import matches
from runner.campaign.stack_checks import stack_problems
from runner.campaign.stack_shape import (
    HostDefinition,
    ServiceDefinition,
    ServiceRole,
    StackShape,
)
from runner.campaign.yaml_source import YamlSource, read_yaml

# What is left out of a definition decides nothing about what is measured.
_NOT_DECIDING = {
    "ready_within_s",
    "switch_within_s",
    "log",
    "log_file",
    "log_command",
    "facts",
    "api_key_env",
    "admin_key_env",
    "headers",
    "header_env",
    "ca_file",
    "proxy_env",
}
THIS_MACHINE = HostDefinition()


class ServiceSettings(NamedTuple):
    """What the levels give to a start of one service."""

    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


class Endpoint(NamedTuple):
    """Where the sessions of an arm go instead of to the services of the stack."""

    url: str
    model: str
    api_key_env: str | None


class Command(NamedTuple):
    """What enters a level by other means than flags, and what leaves it."""

    factor: str
    level: str
    enter: tuple[str, ...]
    undo: tuple[str, ...]


class LaunchSettings(NamedTuple):
    """What a start of the services is given by the levels; equal settings can share a launch."""

    services: tuple[tuple[str, ServiceSettings], ...]
    endpoint: Endpoint | None = None
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Stack:
    """`factors`: factor -> text of the level -> what that level does."""

    name: str
    description: str
    model: str
    may_restart: bool
    hosts: Mapping[str, HostDefinition]
    services: Mapping[str, ServiceDefinition]
    notify: tuple[str, ...]
    factors: Mapping[str, Mapping[str, LevelEffect]]
    source_path: str
    source_text: str

    def effects_of(self, levels: Levels) -> tuple[tuple[str, LevelEffect], ...]:
        """(factor, effect) in the order of `levels`, with the proofs that hold for these levels.

        The concurrency is the client's, and absent. Raises KeyError for a level that the file does
        not define: `check_campaign_on_stack` first.
        """
        return tuple(
            (factor, _applicable(self.factors[factor][level_text(level)], levels))
            for factor, level in levels.items()
            if factor != CONCURRENCY
        )

    def launch_settings(self, levels: Levels) -> LaunchSettings:
        """Arguments in factor order; of two levels that set one variable the later factor wins.

        An arm that is an endpoint asks nothing of the services.
        """
        endpoint = self.endpoint_of(levels)
        if endpoint is not None:
            return LaunchSettings((), endpoint)
        effects = [effect for _, effect in self.effects_of(levels)]
        services = tuple((name, self._settings_of(name, effects)) for name in self.services)
        return LaunchSettings(services, None, tuple(self._commands(levels)))

    def endpoint_of(self, levels: Levels) -> Endpoint | None:
        found = None
        for _, effect in self.effects_of(levels):
            if effect.url is not None:
                found = Endpoint(effect.url, effect.model or self.model, effect.api_key_env)
        return found

    def services_at(self, at: Sequence[str]) -> tuple[str, ...]:
        """The services that are named, by name or by role; all but routers where none is."""
        return tuple(
            name
            for name, service in self.services.items()
            if (name in at or service.role in at)
            or (not at and service.role is not ServiceRole.ROUTER)
        )

    def host_of(self, service: ServiceDefinition) -> HostDefinition:
        return THIS_MACHINE if service.host is None else self.hosts[service.host]

    def definition(self, factors: Mapping[str, tuple[LevelValue, ...]]) -> dict[str, Any]:
        """What decides how the stack serves under these factors, as JSON."""
        return {
            "stack": self.name,
            "model": self.model,
            "services": {
                name: service.model_dump(mode="json", exclude=_NOT_DECIDING)
                for name, service in self.services.items()
            },
            "factors": {
                factor: {
                    level_text(level): self.factors[factor][level_text(level)].model_dump(
                        mode="json", exclude={"api_key_env"}
                    )
                    for level in levels
                }
                for factor, levels in factors.items()
                if factor != CONCURRENCY
            },
        }

    def _settings_of(self, name: str, effects: Sequence[LevelEffect]) -> ServiceSettings:
        args: list[str] = []
        env: dict[str, str] = {}
        for effect in effects:
            if name in self.services_at(effect.at):
                args += effect.args
                env |= effect.env
            if name in effect.services:
                args += effect.services[name].args
                env |= effect.services[name].env
        return ServiceSettings(tuple(args), tuple(sorted(env.items())))

    def _commands(self, levels: Levels) -> Iterator[Command]:
        for factor, effect in self.effects_of(levels):
            if effect.command:
                yield Command(factor, level_text(levels[factor]), effect.command, effect.undo)


def load_stack(path: Path) -> Stack:
    """Raises ConfigError with a line `file:line:column: ...` for each problem of the file."""
    return stack_of(read_yaml(path))


def stack_of(source: YamlSource) -> Stack:
    """As `load_stack`, from a file already read."""
    shape = read_shape(StackShape, source)
    raise_problems(source.path, stack_problems(shape, source))
    return Stack(
        name=shape.stack,
        description=shape.description,
        model=shape.model,
        may_restart=shape.may_restart,
        hosts=shape.hosts,
        services=shape.services,
        notify=shape.notify,
        factors={
            factor: {
                level_text(level): LevelEffect() if effect is None else effect
                for level, effect in levels.items()
            }
            for factor, levels in shape.factors.items()
        },
        source_path=source.path,
        source_text=source.text,
    )


def _applicable(effect: LevelEffect, levels: Levels) -> LevelEffect:
    """The effect without the proofs that ask for other levels."""
    verify = tuple(check for check in effect.verify if matches(levels, check.when))
    return effect.model_copy(update={"verify": verify})
