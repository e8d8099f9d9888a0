"""Brings the services of a stack up for one arm and down again; judges nothing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from db.clock import Clock
from runner.campaign.stack_file import LaunchSettings
from runner.campaign.stack_shape import MetricsDialect
from runner.control.machine import RunningService
from runner.control.process import ServiceProcess
from runner.control.process_group import ProcessMark
from runner.errors import StackControlError, StackStartError
from runner.stacks.port_ownership import require_own_listener
from runner.stacks.readiness import ReadinessProbe, wait_until_ready
from runner.stacks.service_launch import ServiceLaunch
from runner.stacks.start_log import StartLog, last_lines

CHAT_PATH = "/v1/chat/completions"
_LOG_TAIL_LINES = 15


@dataclass(frozen=True, slots=True)
class RunningStack:
    """Services that run under `settings`; `processes` holds those that we started.

    `ports` are those that were free ones, by service.
    """

    model: str
    settings: LaunchSettings
    launches: tuple[ServiceLaunch, ...]
    processes: Mapping[str, RunningService] = field(hash=False)
    ports: Mapping[str, int] = field(default_factory=dict, hash=False)
    start_logs: Mapping[str, StartLog] = field(default_factory=dict, hash=False)

    @property
    def entry(self) -> ServiceLaunch:
        """The service that the sessions talk to."""
        return self.launches[0]

    @property
    def speaks_sglang(self) -> bool:
        """Whether its engines take SGLang's fields in requests; a router passes them on."""
        endpoints = [launch.definition.metrics for launch in self.launches]
        return any(each and each.dialect is MetricsDialect.SGLANG for each in endpoints)

    @property
    def chat_url(self) -> str:
        return self.entry.base_url + CHAT_PATH

    def launch_of(self, service: str) -> ServiceLaunch | None:
        return next((each for each in self.launches if each.name == service), None)

    def marks(self) -> dict[str, ProcessMark]:
        """Of those that are children of ours."""
        marks = {name: process.mark for name, process in self.processes.items()}
        return {name: mark for name, mark in marks.items() if mark is not None}

    def log_path(self, service: str) -> Path | None:
        process = self.processes.get(service)
        return process.log_path if process is not None else None

    def log_paths(self) -> tuple[Path, ...]:
        """Of the logs that we keep."""
        paths = [process.log_path for process in self.processes.values()]
        return tuple(path for path in paths if path is not None)

    def ended_service(self) -> str | None:
        """A sentence about a service of ours that has ended by itself, or None."""
        for name, process in self.processes.items():
            if process.exit_status is not None:
                return f"{name} ended with status {process.exit_status}"
        return None


async def wait_for_services(
    running: RunningStack, *, http: httpx.AsyncClient, clock: Clock
) -> None:
    """Returns when every service answers and the entry generates.

    Raises StackStartError with the end of the log of the service that did not come up, and where
    another process answers in its place.
    """
    for launch in reversed(running.launches):
        probe = readiness_probe(running, launch)
        process = running.processes.get(launch.name)
        try:
            await wait_until_ready(
                probe,
                http=http,
                clock=clock,
                exit_status=_exit_status_of(process),
            )
            if isinstance(process, ServiceProcess):
                await asyncio.to_thread(require_own_listener, launch, process)
        except StackStartError as error:
            raise StackStartError(f"{error}{_log_tail(running, launch.name)}") from error


def readiness_probe(running: RunningStack, launch: ServiceLaunch) -> ReadinessProbe:
    return ReadinessProbe(
        service=launch.name,
        health_url=launch.url_of(launch.definition.health),
        chat_url=running.chat_url if launch is running.entry else None,
        model=running.model,
        ready_within_s=launch.definition.ready_within_s,
    )


def _exit_status_of(process: RunningService | None) -> Callable[[], int | None]:
    return lambda: None if process is None else process.exit_status


async def stop_services(running: RunningStack) -> None:
    """Ends every service of ours; returns when their processes are gone.

    Raises StackControlError where one cannot be ended, after having tried the others.
    """
    await asyncio.to_thread(_stop_all, running)


def _stop_all(running: RunningStack) -> None:
    errors: list[StackControlError] = []
    for log in running.start_logs.values():
        log.close()
    for process in running.processes.values():
        try:
            process.stop()
        except StackControlError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def _log_tail(running: RunningStack, service: str) -> str:
    path, log = running.log_path(service), running.start_logs.get(service)
    if path is not None and path.exists():
        lines, where = last_lines(path, _LOG_TAIL_LINES), f" {path}"
    elif log is not None:
        lines, where = log.tail(_LOG_TAIL_LINES), ""
    else:
        return ""
    return f"\nthe end of its log{where}:\n" + "\n".join(lines) if lines else ""
