"""Whether the parts of a stack file fit together."""

from collections.abc import Iterator, Mapping

from runner.campaign.config_problems import Problem
from runner.campaign.effect_checks import factor_problems
from runner.campaign.stack_shape import (
    SERVICE_PLACEHOLDER,
    ControllerName,
    LogSource,
    MetricRole,
    MetricsDialect,
    MetricsEndpoint,
    ServiceDefinition,
    StackShape,
)
from runner.campaign.yaml_source import YamlSource
from runner.campaign.yaml_values import KeyPath

# Which keys only one controller reads.
_KEYS_OF: Mapping[str, tuple[ControllerName, ...]] = {
    "command": (ControllerName.PROCESS, ControllerName.SYSTEMD, ControllerName.COMMAND),
    "unit": (ControllerName.SYSTEMD,),
    "args_variable": (ControllerName.SYSTEMD,),
    "commands": (ControllerName.COMMAND,),
}
_LITERAL_SECRETS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key"})


def stack_problems(shape: StackShape, source: YamlSource) -> Iterator[Problem]:
    for name, service in shape.services.items():
        yield from _service_problems(name, service, shape, source)
    yield from _needs_in_a_circle(shape, source)
    yield from factor_problems(shape, source)
    if shape.may_restart and not any(s.controller.is_ours for s in shape.services.values()):
        place = source.place_of_value(("may_restart",))
        yield Problem(place, "an external service is not ours to restart", "true", ("false",))


def _service_problems(
    name: str, service: ServiceDefinition, shape: StackShape, source: YamlSource
) -> Iterator[Problem]:
    path = ("services", name)
    yield from _controller_problems(service, source, path)
    yield from _place_problems(name, service, shape, source, path)
    yield from _log_problems(service, source, path)
    yield from _secret_problems(service, source, path)
    if service.metrics is not None:
        yield from _metrics_problems(service.metrics, source, (*path, "metrics"))


def _controller_problems(
    service: ServiceDefinition, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    controller = service.controller
    if controller is ControllerName.PROCESS and not service.command:
        yield Problem(source.place_of_key(path), "a process needs a command, as a list of words")
    if controller is ControllerName.SYSTEMD and service.unit is None:
        yield Problem(source.place_of_key(path), "systemd needs the unit of the service")
    if controller is ControllerName.SYSTEMD and service.command and service.args_variable:
        place = source.place_of_key((*path, "args_variable"))
        yield Problem(place, "arguments go to the command or to a variable, not to both")
    if controller is ControllerName.COMMAND and service.commands is None:
        yield Problem(source.place_of_key(path), "the controller command needs commands")
    for key, controllers in _KEYS_OF.items():
        if getattr(service, key) and controller not in controllers:
            place = source.place_of_key((*path, key))
            if controller is ControllerName.EXTERNAL:
                what = f"an external service has no {key}: others start it"
            else:
                what = f"{key} is read only by {' and '.join(controllers)}"
            yield Problem(place, what)


def _place_problems(
    name: str, service: ServiceDefinition, shape: StackShape, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    picks_port = service.controller in (ControllerName.PROCESS, ControllerName.COMMAND)
    if not picks_port and "{port}" in service.base_url and service.port == "free":
        place = source.place_of_key((*path, "port"))
        what = f"a service of {service.controller} has a fixed port: name it"
        yield Problem(place, what, "free")
    if service.host is not None and service.host not in shape.hosts:
        place = source.place_of_value((*path, "host"))
        yield Problem(place, "unknown host", service.host, tuple(shape.hosts))
    elif service.controller is ControllerName.PROCESS and _is_elsewhere(service, shape):
        place = source.place_of_value((*path, "host"))
        what = "a process runs on this machine; elsewhere use systemd or command"
        yield Problem(place, what, service.host)
    for key, words in (("command", service.command), ("base_url", (service.base_url,))):
        yield from _unknown_services(words, shape, source, (*path, key))
    for index, needed in enumerate(service.needs):
        if needed not in shape.services or needed == name:
            place = source.place_of_value((*path, "needs", str(index)))
            others = tuple(other for other in shape.services if other != name)
            yield Problem(place, "a service needs another one", needed, others)


def _is_elsewhere(service: ServiceDefinition, shape: StackShape) -> bool:
    return service.host is not None and bool(shape.hosts[service.host].ssh)


def _unknown_services(
    words: tuple[str, ...], shape: StackShape, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    for index, word in enumerate(words):
        for service, _ in SERVICE_PLACEHOLDER.findall(word):
            if service not in shape.services:
                inner = (*path, str(index))
                place = source.place_of_value(inner if inner in source.values else path)
                yield Problem(place, "unknown service", service, tuple(shape.services))


def _needs_in_a_circle(shape: StackShape, source: YamlSource) -> Iterator[Problem]:
    for name in shape.services:
        seen: set[str] = set()
        waiting = list(shape.services[name].needs)
        while waiting:
            needed = waiting.pop()
            if needed == name:
                place = source.place_of_key(("services", name, "needs"))
                yield Problem(place, "the services need each other in a circle", name)
                return
            if needed in shape.services and needed not in seen:
                seen.add(needed)
                waiting += shape.services[needed].needs


def _log_problems(
    service: ServiceDefinition, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    is_process = service.controller is ControllerName.PROCESS
    if not is_process and service.log is LogSource.PROCESS:
        place = source.place_of_value((*path, "log"))
        yield Problem(place, "only a process of ours shows its output", "process", ("none",))
    if service.log is LogSource.JOURNAL and service.unit is None:
        place = source.place_of_value((*path, "log"))
        yield Problem(place, "only a unit of systemd has a journal", "journal", ("command",))
    keys = {LogSource.FILE: "log_file", LogSource.COMMAND: "log_command"}
    for kind, key in keys.items():
        given = bool(getattr(service, key))
        if service.log is kind and not given:
            place = source.place_of_value((*path, "log"))
            yield Problem(place, f"log: {kind} needs {key}")
        if given and service.log is not kind:
            place = source.place_of_key((*path, key))
            yield Problem(place, f"{key} is read only with log: {kind}", service.log, (kind,))


def _secret_problems(
    service: ServiceDefinition, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    for name in service.headers:
        if name.lower() in _LITERAL_SECRETS:
            place = source.place_of_key((*path, "headers", name))
            what = "a secret does not stand in a file: name its environment variable in header_env"
            yield Problem(place, what, name)


def _metrics_problems(
    metrics: MetricsEndpoint, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    is_mapped = metrics.dialect is MetricsDialect.OTHER
    if is_mapped and MetricRole.RUNNING not in metrics.names:
        what = "the dialect other needs names with at least the series of running"
        yield Problem(source.place_of_key((*path, "dialect")), what)
    if is_mapped and not metrics.progress:
        what = "the dialect other needs progress: counters that move while tokens are made"
        yield Problem(source.place_of_key((*path, "dialect")), what)
    for key in ("names", "progress", "engine_labels", "repeated_labels"):
        if not is_mapped and getattr(metrics, key):
            what = f"{key} is read only with the dialect other"
            yield Problem(source.place_of_key((*path, key)), what, metrics.dialect, ("other",))
