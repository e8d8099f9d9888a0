"""Reaches every service of a stack as it runs now, and says what could be seen; changes nothing."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import NamedTuple

import httpx

from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ControllerName
from runner.campaign.stack_shape import LogSource as LogOrigin
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.control.error_texts import errors_without
from runner.control.host import Host
from runner.control.machine import Machine, run_well
from runner.control.secrets import Secrets
from runner.control.service_commands import filled_words
from runner.errors import StackControlError, StackError
from runner.execute.stack_watch import found_services
from runner.observe.exposition import read_exposition
from runner.observe.log_follower import CommandFollower, LogSource
from runner.observe.metric_dialects import dialect_of
from runner.stacks.log_sources import log_source_of
from runner.stacks.service_connection import ServiceKeys, control_client, secrets_of
from runner.stacks.service_control import commanded_service, host_of, systemd_unit
from runner.stacks.service_launch import ServiceLaunch
from runner.stacks.statements import statement_page

PAGE_DEADLINE_S = 10.0
LOG_WAIT_S = 1.0
LOOKED_BACK_S = 3600.0
MOST_OFFSET_S = 2.0
_KEPT_BYTES = 4096
_SHOWN_CHARACTERS = 300
# The folder is made where it is missing: what counts is the nearest one that is there.
_MAY_WRITE = 'at=$1; until [ -e "$at" ]; do at=$(dirname "$at"); done; test -w "$at"'


@dataclass(frozen=True, slots=True)
class Finding:
    """`is_ok` None: nothing was to be seen here, or nothing was; never True for what was not."""

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
    hosts = {
        host: await asyncio.to_thread(_reached, host, machine)
        for host in {host_of(launch): None for launch in launches if host_of(launch).ssh}
    }
    for launch in launches:
        reached = hosts.get(host_of(launch))
        is_reachable = reached is None or reached.is_reached
        found += await asyncio.to_thread(_rights, launch, machine, is_reachable=is_reachable)
        found += await asyncio.to_thread(_log, launch, machine, is_reachable=is_reachable)
    return found + [reached.clock for reached in hosts.values()]


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


def _rights(launch: ServiceLaunch, machine: Machine, *, is_reachable: bool) -> list[Finding]:
    """Whether its controller could act; nothing is done."""
    part = f"{launch.name} {launch.definition.controller}"
    rights_of = {ControllerName.SYSTEMD: _unit_rights, ControllerName.COMMAND: _command_rights}
    ask = rights_of.get(launch.definition.controller)
    if ask is None:
        return []
    if not is_reachable:
        return [Finding(part, None, _not_asked(launch))]
    try:
        return [ask(part, launch, machine)]
    except StackControlError as error:
        return [Finding(part, False, str(error))]


def _not_asked(launch: ServiceLaunch) -> str:
    return f"not asked: the host {host_of(launch).name} was not reached"


def _unit_rights(part: str, launch: ServiceLaunch, machine: Machine) -> Finding:
    unit, host = systemd_unit(launch, machine), host_of(launch)
    unit.restore_steps(launch.name)
    run_well(machine, host.argv(("true",), privileged=True))
    state = "runs" if unit.state().is_running else "is stopped"
    said = f"{unit.unit} on {host.name} {state}"
    words = ("sh", "-c", _MAY_WRITE, "sh", host.drop_ins)
    if machine.run(host.argv(words, privileged=True)).status != 0:
        refused = f"no right to write {host.drop_ins}; `become`, such as [sudo, -n], gets it"
        return Finding(part, False, f"{said}; {refused}")
    return Finding(part, True, f"{said}; rights are there")


def _command_rights(part: str, launch: ServiceLaunch, machine: Machine) -> Finding:
    service = commanded_service(launch, machine)
    steps = service.restore_steps(launch.name)
    back = f"{len(steps)} commands would bring it back"
    if service.templates.found:
        return Finding(part, True, f"what is there was found; {back}")
    if not service.templates.status:
        return Finding(part, None, "not asked: the stack file names neither found nor status")
    words = filled_words(service.templates.status, service.filling)
    done = machine.run(service.host.argv(words))
    if done.status == 0:
        return Finding(part, True, f"its status command finds it; {back}")
    said = _last_line(done.stderr) or _last_line(done.stdout) or "no word"
    missing = f"its status command ended with {done.status}: {said}"
    return Finding(part, None, f"{missing}; it does not run, or could not be asked")


def _log(launch: ServiceLaunch, machine: Machine, *, is_reachable: bool) -> list[Finding]:
    part, origin = f"{launch.name} log", launch.definition.log
    if origin in (LogOrigin.NONE, LogOrigin.PROCESS):
        return [Finding(part, None, f"log: {origin}")]
    if origin is LogOrigin.JOURNAL:
        if not is_reachable:
            return [Finding(part, None, _not_asked(launch))]
        return [_journal(part, launch, machine)]
    if origin is LogOrigin.COMMAND:
        since_s = time.time() - LOOKED_BACK_S
        command = CommandFollower(launch.definition.log_command, utc_s=lambda: since_s)
        return [_followed(part, origin, command)]
    source = log_source_of(launch, None)
    assert source is not None
    return [_followed(part, origin, source)]


def _journal(part: str, launch: ServiceLaunch, machine: Machine) -> Finding:
    """Whether its last entry is shown: a user without the right to read a journal sees none."""
    host, unit = host_of(launch), launch.definition.unit
    assert unit is not None, "a stack file that was accepted names it"
    words = (*host.journalctl, "-u", unit, "-o", "json", "-n", "1", "--no-pager", "-q")
    try:
        entry = run_well(machine, host.argv(words), deadline_s=PAGE_DEADLINE_S)
    except StackControlError as error:
        return Finding(part, False, str(error))
    if not entry.strip():
        where = f"the journal of {host.name}"
        return Finding(part, None, f"{where} shows no entry of {unit}: none is there, or no right")
    return Finding(part, True, f"it can be followed ({LogOrigin.JOURNAL})")


def _followed(part: str, origin: LogOrigin, source: LogSource) -> Finding:
    """A command is watched for a while even when it says something: it may be why it ends."""
    is_command = origin is LogOrigin.COMMAND
    ends_s, said = time.monotonic() + LOG_WAIT_S, b""
    try:
        said += source.read_new()
        while is_command and source.trouble is None and time.monotonic() < ends_s:
            time.sleep(0.05)
            said = (said + source.read_new())[-_KEPT_BYTES:]
        trouble = source.trouble
    finally:
        source.close()
    if trouble is not None:
        why = _last_line(said.decode("utf-8", errors="replace")) if is_command else ""
        return Finding(part, False, f"{trouble}: {why}" if why else trouble)
    if is_command and not said:
        hours = LOOKED_BACK_S / 3600
        quiet = f"the command printed nothing of the last {hours:g} h in {LOG_WAIT_S:g} s"
        return Finding(part, None, f"{quiet}: not seen whether it can be followed")
    return Finding(part, True, f"it can be followed ({origin})")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip()[:_SHOWN_CHARACTERS] if lines else ""


class _Reached(NamedTuple):
    is_reached: bool
    clock: Finding


def _reached(host: Host, machine: Machine) -> _Reached:
    """Whether a command runs on it, and by how much its clock differs."""
    part, before_s = f"host {host.name}", time.time()
    try:
        said = run_well(machine, host.argv(("date", "+%s.%N")))
    except StackControlError as error:
        return _Reached(False, Finding(part, False, str(error)))
    try:
        offset_s = float(said) - (before_s + time.time()) / 2
    except ValueError:
        unread = f"its clock cannot be read: date said {_last_line(said) or 'nothing'}"
        return _Reached(True, Finding(part, False, unread))
    is_close = abs(offset_s) <= MOST_OFFSET_S
    return _Reached(True, Finding(part, is_close, f"its clock differs by {offset_s:+.2f} s"))
