"""From a stack file and an arm to the exact commands; starts nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.campaign.campaign import Levels
from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ControllerName, LogSource, ServiceDefinition


@dataclass(frozen=True, slots=True)
class ServiceLaunch:
    """One service as this arm needs it; `argv` is empty where somebody else starts it."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    base_url: str
    definition: ServiceDefinition = field(hash=False)

    @property
    def is_ours(self) -> bool:
        return self.definition.controller is ControllerName.PROCESS

    @property
    def has_log(self) -> bool:
        return self.definition.log is not LogSource.NONE

    def url_of(self, path: str | None) -> str | None:
        return None if path is None else self.base_url + path

    @property
    def metrics_url(self) -> str | None:
        return self.url_of(self.definition.metrics.path) if self.definition.metrics else None


def plan_launches(
    stack: Stack, levels: Levels, *, ports: Mapping[str, int], python: str
) -> tuple[ServiceLaunch, ...]:
    """The services in file order; the first one is where the sessions are sent.

    `ports` holds a port for each service that asks for a free one. Raises KeyError without it.
    """
    settings = stack.launch_settings(levels)
    return tuple(
        _launch_of(name, definition, settings.args, dict(settings.env), ports, python)
        for name, definition in stack.services.items()
    )


def services_that_need_a_port(stack: Stack) -> tuple[str, ...]:
    return tuple(name for name, definition in stack.services.items() if definition.port == "free")


def _launch_of(
    name: str,
    definition: ServiceDefinition,
    args: tuple[str, ...],
    env: Mapping[str, str],
    ports: Mapping[str, int],
    python: str,
) -> ServiceLaunch:
    port = definition.port if isinstance(definition.port, int) else ports[name]

    def filled(template: str) -> str:
        return template.replace("{python}", python).replace("{port}", str(port))

    is_ours = definition.controller is ControllerName.PROCESS
    return ServiceLaunch(
        name=name,
        argv=(*map(filled, definition.command), *args) if is_ours else (),
        env={key: filled(value) for key, value in definition.env.items()} | dict(env),
        base_url=filled(definition.base_url),
        definition=definition,
    )
