"""From a stack file and an arm to the exact commands; starts nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from runner.campaign.campaign import Levels
from runner.campaign.stack_file import THIS_MACHINE, Endpoint, Stack
from runner.campaign.stack_shape import (
    SERVICE_PLACEHOLDER,
    ControllerName,
    HostDefinition,
    LogSource,
    ServiceDefinition,
    ServiceRole,
)

ENDPOINT = "endpoint"
MODELS_PATH = "/v1/models"


@dataclass(frozen=True, slots=True)
class ServiceLaunch:
    """One service as this arm needs it.

    `argv` are the words of its command with the arguments of the levels, `args` those alone. `env`
    are the variables that the file and the levels set, `level_env` those of the levels alone.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    base_url: str
    definition: ServiceDefinition = field(hash=False)
    args: tuple[str, ...] = ()
    level_env: Mapping[str, str] = field(default_factory=dict, hash=False)
    host: HostDefinition = field(default=THIS_MACHINE, hash=False)
    fill: Callable[[str], str] = field(default=lambda text: text, hash=False, compare=False)

    @property
    def is_ours(self) -> bool:
        """Whether it is a child of this process."""
        return self.definition.controller is ControllerName.PROCESS

    @property
    def is_controlled(self) -> bool:
        """Whether we start it and end it, as a child or otherwise."""
        return self.definition.controller.is_ours

    @property
    def has_log(self) -> bool:
        return self.definition.log is not LogSource.NONE

    @property
    def is_router(self) -> bool:
        return self.definition.role is ServiceRole.ROUTER

    def url_of(self, path: str | None) -> str | None:
        return None if path is None else self.base_url + path

    @property
    def metrics_url(self) -> str | None:
        return self.url_of(self.definition.metrics.path) if self.definition.metrics else None


def plan_launches(
    stack: Stack, levels: Levels, *, ports: Mapping[str, int], python: str
) -> tuple[ServiceLaunch, ...]:
    """The services in file order; the first one is where the sessions are sent.

    An arm that is an endpoint has that alone. `ports` holds a port for each service that asks for
    a free one. Raises KeyError without it.
    """
    settings = stack.launch_settings(levels)
    if settings.endpoint is not None:
        return (endpoint_launch(settings.endpoint),)
    places = _Places(stack, ports, python)
    return tuple(
        _launch_of(name, stack, own.args, dict(own.env), places) for name, own in settings.services
    )


def services_that_need_a_port(stack: Stack) -> tuple[str, ...]:
    return tuple(name for name, definition in stack.services.items() if definition.port == "free")


def start_order(launches: Sequence[ServiceLaunch]) -> tuple[ServiceLaunch, ...]:
    """Those that others need come first; else the file's order, from its end."""
    waiting = {launch.name: launch for launch in reversed(launches)}
    ordered: list[ServiceLaunch] = []
    while waiting:
        ready = next(
            launch
            for launch in waiting.values()
            if not any(needed in waiting for needed in launch.definition.needs)
        )
        ordered.append(waiting.pop(ready.name))
    return tuple(ordered)


def endpoint_definition(endpoint: Endpoint) -> ServiceDefinition:
    """A service that others run, of which only the address is known."""
    return ServiceDefinition(
        controller=ControllerName.EXTERNAL,
        base_url=endpoint.url,
        health=None,
        models=MODELS_PATH,
        api_key_env=endpoint.api_key_env,
    )


def endpoint_launch(endpoint: Endpoint) -> ServiceLaunch:
    return ServiceLaunch(ENDPOINT, (), {}, endpoint.url, endpoint_definition(endpoint))


class _Places:
    """Fills in where the services are."""

    def __init__(self, stack: Stack, ports: Mapping[str, int], python: str) -> None:
        self._python = python
        self._services = stack.services
        self._ports = {
            name: service.port if isinstance(service.port, int) else ports[name]
            for name, service in stack.services.items()
        }

    def filled(self, text: str, *, service: str) -> str:
        own = text.replace("{python}", self._python).replace("{port}", str(self._ports[service]))
        return SERVICE_PLACEHOLDER.sub(self._other, own)

    def url(self, service: str) -> str:
        return self.filled(self._services[service].base_url, service=service)

    def _other(self, found: re.Match[str]) -> str:
        service, wanted = found.groups()
        return str(self._ports[service]) if wanted == "port" else self.url(service)


def _launch_of(
    name: str, stack: Stack, args: tuple[str, ...], env: Mapping[str, str], places: _Places
) -> ServiceLaunch:
    definition = stack.services[name]

    def filled(template: str) -> str:
        return places.filled(template, service=name)

    # A unit without a command of its own keeps its ExecStart.
    takes_words = bool(definition.command) or definition.controller is ControllerName.COMMAND
    return ServiceLaunch(
        name=name,
        argv=(*map(filled, definition.command), *args) if takes_words else (),
        env={key: filled(value) for key, value in definition.env.items()} | dict(env),
        base_url=places.url(name),
        definition=definition,
        args=args,
        level_env=env,
        host=stack.host_of(definition),
        fill=filled,
    )
