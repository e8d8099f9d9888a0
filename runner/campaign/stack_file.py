"""What a stack is: its services, and what each level of a factor does and how that is proved.

Values and their file format only; starting and asking services is not known here.
The keys are documented in configs/README.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from runner.campaign.campaign import CONCURRENCY, Levels
from runner.campaign.config_problems import raise_problems
from runner.campaign.file_shape import LevelValue, level_text, read_shape
from runner.campaign.matrix import matches
from runner.campaign.stack_checks import stack_problems
from runner.campaign.stack_shape import LevelEffect, ServiceDefinition, StackShape
from runner.campaign.yaml_source import YamlSource, read_yaml

# What is left out of a definition decides nothing about what is measured.
_NOT_DECIDING = {"ready_within_s", "log", "log_file", "log_command"}


class LaunchSettings(NamedTuple):
    """What a start of the services is given by the levels; equal settings can share a launch."""

    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """`factors`: factor -> text of the level -> what that level does."""

    name: str
    description: str
    model: str
    may_restart: bool
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
        """Arguments in factor order; of two levels that set one variable the later factor wins."""
        effects = [effect for _, effect in self.effects_of(levels)]
        env = {name: value for effect in effects for name, value in effect.env.items()}
        args = tuple(argument for effect in effects for argument in effect.args)
        return LaunchSettings(args, tuple(sorted(env.items())))

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
                        mode="json"
                    )
                    for level in levels
                }
                for factor, levels in factors.items()
                if factor != CONCURRENCY
            },
        }


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
