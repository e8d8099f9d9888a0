"""Reads what a stored campaign's launches tell of servers that others run, and decides nothing.

Servers of ours are started with each launch: they are never among them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from db.reads.campaigns import ArmFacts
from db.reads.observations import SampleFacts, outer_samples, values_of_series
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.campaign.file_shape import level_text
from runner.campaign.stack_shape import (
    ControllerName,
    MetricRole,
    MetricsDialect,
    MetricsEndpoint,
    ServiceRole,
)
from runner.evidence.server_starts import LaunchSigns, ServerStart, ServiceSigns, starts_of
from runner.observe.engine_readings import read_page
from runner.observe.exposition import Sample
from runner.observe.metric_dialects import (
    KNOWN_DIALECTS,
    PROCESS_START,
    Dialect,
    dialect_of,
    dialect_of_endpoint,
)

_COUNTS_OF_REQUESTS = frozenset(
    name for dialect in KNOWN_DIALECTS for name in dialect.roles.get(MetricRole.REQUESTS, ())
)
_READ_AT_A_START = ("args", "env", "services")


def external_starts(
    connection: Connection,
    definition: Mapping[str, Any],
    *,
    arms: Sequence[ArmFacts],
    runs: Sequence[RunCounts],
    unproven: Mapping[int, Sequence[str]],
) -> dict[int, ServerStart]:
    """Of the launches whose services are all external, by the samples of their runs.

    `definition` is that of the campaign, with its stack; `unproven` names the factors of a run
    that nothing could prove.
    """
    stack = definition.get("stack")
    if not isinstance(stack, Mapping):
        return {}
    levels_of = {arm.id: arm.levels for arm in arms}
    by_launch: dict[int, list[RunCounts]] = {}
    for run in sorted(runs, key=lambda each: each.started_at_us or 0):
        servers = _servers(stack, levels_of[run.arm_id])
        if run.launch_id is not None and servers is not None:
            by_launch.setdefault(run.launch_id, []).append(run)
    if len(by_launch) < 2:
        return {}
    dialects = _dialects(stack)
    return starts_of(
        LaunchSigns(
            launch_id=launch_id,
            servers=_servers(stack, levels_of[own[0].arm_id]) or "",
            services=_signs(connection, stack, dialects, own),
            levels=_levels_of_start(stack, own, levels_of, unproven),
        )
        for launch_id, own in sorted(by_launch.items())
    )


def _servers(stack: Mapping[str, Any], levels: Mapping[str, Any]) -> str | None:
    """Which ones these levels are asked of: an endpoint, or the stack; None where any is ours."""
    for *_, effect in _effects(stack, levels):
        if effect.get("url"):
            return str(effect["url"])
    services = stack.get("services", {}).values()
    are_external = all(each.get("controller") == ControllerName.EXTERNAL for each in services)
    return "" if services and are_external else None


def _effects(
    stack: Mapping[str, Any], levels: Mapping[str, Any]
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Factor, level, and what this level does."""
    for factor, effects in stack.get("factors", {}).items():
        if factor in levels:
            level = level_text(levels[factor])
            yield factor, level, effects.get(level) or {}


def _levels_of_start(
    stack: Mapping[str, Any],
    own: Sequence[RunCounts],
    levels_of: Mapping[int, Mapping[str, Any]],
    unproven: Mapping[int, Sequence[str]],
) -> dict[str, str]:
    """Of the factors of which any level sets what a server reads only when it starts."""
    taking = {
        factor
        for factor, effects in stack.get("factors", {}).items()
        if any((effect or {}).get(key) for effect in effects.values() for key in _READ_AT_A_START)
    }
    return {
        factor: level
        for run in own
        if run.run_state is RunState.DONE
        for factor, level, _ in _effects(stack, levels_of[run.arm_id])
        if factor in taking and factor not in unproven.get(run.id, ())
    }


def _dialects(stack: Mapping[str, Any]) -> dict[str, Dialect]:
    """Of the services whose metrics the stack file maps by itself."""
    found: dict[str, Dialect] = {}
    for name, service in stack.get("services", {}).items():
        metrics = service.get("metrics")
        if metrics and metrics.get("dialect") == MetricsDialect.OTHER:
            endpoint = MetricsEndpoint.model_validate_json(json.dumps(metrics))
            dialect = dialect_of_endpoint(endpoint)
            if dialect is not None:
                found[name] = dialect
    return found


def _signs(
    connection: Connection,
    stack: Mapping[str, Any],
    dialects: Mapping[str, Dialect],
    own: Sequence[RunCounts],
) -> dict[str, ServiceSigns]:
    """By service, without routers: one that runs on says nothing of the engines behind it."""
    starts: dict[str, set[float]] = {}
    counts: dict[str, list[float]] = {}
    for run in own:
        for service, start in values_of_series(connection, run.id, PROCESS_START):
            starts.setdefault(service, set()).add(start)
        for service, counted in _counted(connection, stack, dialects, run):
            counts.setdefault(service, []).append(counted)
    services = stack.get("services", {})
    return {
        name: ServiceSigns(
            frozenset(starts.get(name, ())),
            counts[name][0] if name in counts else None,
            counts[name][-1] if name in counts else None,
        )
        for name in sorted({*starts, *counts})
        if services.get(name, {}).get("role") != ServiceRole.ROUTER
    }


def _counted(
    connection: Connection,
    stack: Mapping[str, Any],
    dialects: Mapping[str, Dialect],
    run: RunCounts,
) -> Iterator[tuple[str, float]]:
    """How many requests each service had counted at its first and its last scrape of the run."""
    own = {x for each in dialects.values() for x in each.roles.get(MetricRole.REQUESTS, ())}
    pages: dict[tuple[str, int], list[SampleFacts]] = {}
    for sample in outer_samples(connection, run.id, sorted(_COUNTS_OF_REQUESTS | own)):
        pages.setdefault((sample.service, sample.at_us), []).append(sample)
    for (service, _), samples in pages.items():
        page = [Sample(each.name, each.value, each.labels) for each in samples]
        dialect = dialects.get(service) or dialect_of(page)
        if dialect is not None:
            totals = read_page(page, dialect, model=stack.get("model")).totals()
            if MetricRole.REQUESTS in totals:
                yield service, totals[MetricRole.REQUESTS]
