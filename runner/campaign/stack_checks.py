"""Whether the parts of a stack file fit together."""

from collections.abc import Iterator

from runner.campaign.campaign import CONCURRENCY
from runner.campaign.config_problems import Problem, shown
from runner.campaign.file_shape import level_text
from runner.campaign.stack_shape import (
    ControllerName,
    LogSource,
    MetricRole,
    MetricsDialect,
    MetricsEndpoint,
    ServerInfoCheck,
    ServiceDefinition,
    StackShape,
)
from runner.campaign.yaml_source import YamlSource
from runner.campaign.yaml_values import KeyPath


def stack_problems(shape: StackShape, source: YamlSource) -> Iterator[Problem]:
    yield from _number_of_services(shape, source)
    for name, service in shape.services.items():
        yield from _service_problems(name, service, source)
    yield from _factor_problems(shape, source)
    controllers = {service.controller for service in shape.services.values()}
    if shape.may_restart and ControllerName.PROCESS not in controllers:
        place = source.place_of_value(("may_restart",))
        yield Problem(place, "an external service is not ours to restart", "true", ("false",))


def _number_of_services(shape: StackShape, source: YamlSource) -> Iterator[Problem]:
    if len(shape.services) > 1:
        place = source.place_of_key(("services",))
        yield Problem(place, "a stack has one service", str(len(shape.services)))


def _service_problems(
    name: str, service: ServiceDefinition, source: YamlSource
) -> Iterator[Problem]:
    path = ("services", name)
    is_process = service.controller is ControllerName.PROCESS
    if is_process and not service.command:
        yield Problem(source.place_of_key(path), "a process needs a command, as a list of words")
    if not is_process and service.command:
        place = source.place_of_key((*path, "command"))
        yield Problem(place, "an external service has no command: others start it")
    if not is_process and service.log is LogSource.PROCESS:
        place = source.place_of_value((*path, "log"))
        yield Problem(place, "only a process of ours shows its output", "process", ("none",))
    yield from _log_problems(service, source, path)
    if not is_process and "{port}" in service.base_url and service.port == "free":
        place = source.place_of_key((*path, "port"))
        yield Problem(place, "an external service has a fixed port: name it", "free")
    if service.metrics is not None:
        yield from _metrics_problems(service.metrics, source, (*path, "metrics"))


def _log_problems(
    service: ServiceDefinition, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    keys = {LogSource.FILE: "log_file", LogSource.COMMAND: "log_command"}
    for kind, key in keys.items():
        given = bool(getattr(service, key))
        if service.log is kind and not given:
            place = source.place_of_value((*path, "log"))
            yield Problem(place, f"log: {kind} needs {key}")
        if given and service.log is not kind:
            place = source.place_of_key((*path, key))
            yield Problem(place, f"{key} is read only with log: {kind}", service.log, (kind,))


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


def _factor_problems(shape: StackShape, source: YamlSource) -> Iterator[Problem]:
    if CONCURRENCY in shape.factors:
        place = source.place_of_key(("factors", CONCURRENCY))
        yield Problem(place, "concurrency is the client's: a stack cannot define it")
    service = next(iter(shape.services.values()))
    for factor, levels in shape.factors.items():
        for level, effect in levels.items():
            path = ("factors", factor, str(level))
            if effect and effect.verify and service.server_info is None:
                place = source.place_of_key((*path, "verify"))
                yield Problem(place, "the service offers no server_info to verify the level with")
            for index, check in enumerate(effect.verify if effect else ()):
                when_path = (*path, "verify", str(index), "when")
                yield from _unknown_conditions(check, shape, source, when_path)
            if effect and effect.exercise and service.metrics is None:
                place = source.place_of_key((*path, "exercise"))
                yield Problem(place, "the service offers no metrics to see the level exercised")


def _unknown_conditions(
    check: ServerInfoCheck, shape: StackShape, source: YamlSource, path: KeyPath
) -> Iterator[Problem]:
    for factor, level in check.when.items():
        levels = [level_text(own) for own in shape.factors.get(factor, ())]
        if not levels:
            place = source.place_of_key((*path, factor))
            yield Problem(place, "unknown factor", factor, tuple(shape.factors))
        elif level_text(level) not in levels:
            place = source.place_of_value((*path, factor))
            yield Problem(place, f"unknown level of {factor}", shown(level), levels)
