"""Reaches every service of a stack as it runs now, and says what could be seen; changes nothing."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ControllerName
from runner.campaign.stack_shape import LogSource as LogOrigin
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.control.error_texts import errors_without
from runner.control.host import Host
from runner.control.machine import Machine, run_well
from runner.control.secrets import Secrets
from runner.errors import StackControlError, StackError
from runner.execute.stack_watch import found_services
from runner.observe.exposition import read_exposition
from runner.observe.metric_dialects import dialect_of
from runner.stacks.log_sources import log_source_of
from runner.stacks.service_connection import ServiceKeys, control_client, secrets_of
from runner.stacks.service_control import commanded_service, host_of, systemd_unit
from runner.stacks.service_launch import ServiceLaunch
from runner.stacks.statements import statement_page

PAGE_DEADLINE_S = 10.0
LOG_WAIT_S = 1.0
MOST_OFFSET_S = 2.0


@dataclass(frozen=True, slots=True)
class Finding:
    """`is_ok` None: there is nothing to be reached, which is no fault."""

    part: str
    is_ok: bool | None
    said: str

    @property
    def mark(self) -> str:
        return {True: "ok", False: "FAILED", None: "none"}[self.is_ok]


async def check_stack(
    stack: Stack,
    *,
    addresses: Mapping[str, str],
    environment: Mapping[str, str],
    machine: Machine,
) -> list[Finding]:
    """`addresses`: where services run that the file gives a free port.

    Raises UsageError where an address or a variable of the environment is missing.
    """
    launches = found_services(stack, addresses)
    keys = ServiceKeys(environment)
    keys.use(launches)
    secrets = secrets_of(stack, environment)
    with errors_without(secrets):
        found = await _findings(stack, launches, environment, machine, keys, secrets)
    return [Finding(f.part, f.is_ok, secrets.hidden_text(f.said)) for f in found]


async def _findings(
    stack: Stack,
    launches: Sequence[ServiceLaunch],
    environment: Mapping[str, str],
    machine: Machine,
    keys: ServiceKeys,
    secrets: Secrets,
) -> list[Finding]:
    async with control_client(stack, environment=environment, keys=keys, secrets=secrets) as http:
        pages = await asyncio.gather(*(_pages(launch, http) for launch in launches))
    found = [finding for findings in pages for finding in findings]
    for launch in launches:
        found += await asyncio.to_thread(_rights, launch, machine)
        found += await asyncio.to_thread(_log, launch)
    for host in {host_of(launch): None for launch in launches if host_of(launch).ssh}:
        found.append(await asyncio.to_thread(_clock_of_host, host, machine))
    return found


async def _pages(launch: ServiceLaunch, http: httpx.AsyncClient) -> list[Finding]:
    definition = launch.definition
    return [
        await _health(launch, http),
        await _report(f"{launch.name} server_info", launch, definition.server_info, http),
        await _report(f"{launch.name} models", launch, definition.models, http),
        await _metrics(launch, http),
    ]


async def _health(launch: ServiceLaunch, http: httpx.AsyncClient) -> Finding:
    """Its page, and by how much the server's clock differs, to a second."""
    part = f"{launch.name} health"
    url = launch.url_of(launch.definition.health or launch.definition.models)
    if url is None:
        return Finding(part, None, "the service offers neither health nor models")
    before_s = time.time()
    try:
        page = await fetch_page(http, url, deadline_s=PAGE_DEADLINE_S)
    except NO_PAGE as error:
        return Finding(part, False, f"{url}: {said_by(error, deadline_s=PAGE_DEADLINE_S)}")
    if page.status != HTTPStatus.OK:
        return Finding(part, False, f"{url} answered {page.status}")
    offset_s = _offset_s(page.date, (before_s + time.time()) / 2)
    if offset_s is None:
        return Finding(part, True, f"{url} answers; it tells no time")
    is_close = abs(offset_s) <= MOST_OFFSET_S
    clock = "its clock agrees" if is_close else f"its clock is off by {offset_s:+.0f} s"
    return Finding(part, is_close, f"{url} answers; {clock}")


def _offset_s(date: str | None, now_s: float) -> float | None:
    """HTTP tells whole seconds, rounded down."""
    try:
        return None if date is None else parsedate_to_datetime(date).timestamp() + 0.5 - now_s
    except ValueError:
        return None


async def _report(
    part: str, launch: ServiceLaunch, path: str | None, http: httpx.AsyncClient
) -> Finding:
    if path is None:
        return Finding(part, None, "the stack file names no such page")
    try:
        report = await statement_page(launch, path, http)
    except StackError as error:
        return Finding(part, False, str(error))
    assert report is not None
    version = report.get("version")
    told = f", version {version}" if isinstance(version, str) else ""
    return Finding(part, True, f"{len(report)} entries{told}")


async def _metrics(launch: ServiceLaunch, http: httpx.AsyncClient) -> Finding:
    part = f"{launch.name} metrics"
    url = launch.metrics_url
    if url is None:
        return Finding(part, None, "the stack file names no metrics")
    try:
        page = await fetch_page(http, url, deadline_s=PAGE_DEADLINE_S)
        samples = read_exposition(page.content, content_type=page.content_type)
    except (*NO_PAGE, ValueError) as error:
        return Finding(part, False, f"{url}: {said_by(error, deadline_s=PAGE_DEADLINE_S)}")
    if page.status != HTTPStatus.OK:
        return Finding(part, False, f"{url} answered {page.status}")
    dialect = dialect_of(samples)
    named = dialect.name if dialect is not None else "an unknown dialect"
    return Finding(part, bool(samples), f"{len(samples)} samples in {named}")


def _rights(launch: ServiceLaunch, machine: Machine) -> list[Finding]:
    """Whether its controller could act; nothing is done."""
    part = f"{launch.name} {launch.definition.controller}"
    host = host_of(launch)
    try:
        if launch.definition.controller is ControllerName.SYSTEMD:
            unit = systemd_unit(launch, machine)
            unit.restore_steps(launch.name)
            run_well(machine, host.argv(("true",), privileged=True))
            state = "runs" if unit.state().is_running else "is stopped"
            return [Finding(part, True, f"{unit.unit} on {host.name} {state}; rights are there")]
        if launch.definition.controller is ControllerName.COMMAND:
            steps = commanded_service(launch, machine).restore_steps(launch.name)
            return [Finding(part, True, f"{len(steps)} commands would bring it back")]
    except StackControlError as error:
        return [Finding(part, False, str(error))]
    return []


def _log(launch: ServiceLaunch) -> list[Finding]:
    part = f"{launch.name} log"
    if launch.definition.log in (LogOrigin.NONE, LogOrigin.PROCESS):
        return [Finding(part, None, f"log: {launch.definition.log}")]
    source = log_source_of(launch, None)
    assert source is not None
    try:
        ends_s = time.monotonic() + LOG_WAIT_S
        said = source.read_new()
        while not said and source.trouble is None and time.monotonic() < ends_s:
            time.sleep(0.05)
            said = source.read_new()
        if source.trouble is not None:
            return [Finding(part, False, source.trouble)]
    finally:
        source.close()
    return [Finding(part, True, f"it can be followed ({launch.definition.log})")]


def _clock_of_host(host: Host, machine: Machine) -> Finding:
    before_s = time.time()
    try:
        told_s = float(run_well(machine, host.argv(("date", "+%s.%N"))))
    except (StackControlError, ValueError) as error:
        return Finding(f"host {host.name}", False, str(error))
    offset_s = told_s - (before_s + time.time()) / 2
    is_close = abs(offset_s) <= MOST_OFFSET_S
    return Finding(f"host {host.name}", is_close, f"its clock differs by {offset_s:+.2f} s")
