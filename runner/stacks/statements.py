"""Asks the services of an arm what they are: reports, models, log lines, environment."""

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx

from db.clock import Clock
from runner.campaign.campaign import Levels
from runner.campaign.level_effect import ProofSource
from runner.campaign.stack_file import Stack
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.control.machine import RunningService
from runner.control.systemd_unit import SystemdUnit, read_environment
from runner.errors import StackControlError, StackError
from runner.stacks.arm_proof import checks_of
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ServiceLaunch
from runner.stacks.verification import Check, Statement

REPORT_DEADLINE_S = 10.0


async def statements_of(
    stack: Stack,
    levels: Levels,
    running: RunningStack,
    *,
    http: httpx.AsyncClient,
    clock: Clock,
) -> dict[str, Statement]:
    """What every service says that this arm asks of it, and its report in any case.

    Each process is asked itself. Raises StackError where one that offers a report gives none.
    """
    return {
        launch.name: await _statement(
            launch, checks_of(stack, levels, launch.name, launch.definition), running, http, clock
        )
        for launch in running.launches
    }


async def _statement(
    launch: ServiceLaunch,
    checks: tuple[Check, ...],
    running: RunningStack,
    http: httpx.AsyncClient,
    clock: Clock,
) -> Statement:
    asked = {check.wanted.source for check in checks}
    service = running.processes.get(launch.name)
    log = running.start_logs.get(launch.name)
    lines = None
    if ProofSource.LOG in asked and log is not None:
        patterns = [
            check.wanted.place
            for check in checks
            if check.wanted.source is ProofSource.LOG and not check.wanted.absent
        ]
        lines = await log.lines(patterns, clock=clock)
    return Statement(
        server_info=await statement_page(launch, launch.definition.server_info, http),
        models=await statement_page(launch, launch.definition.models, http),
        log=lines,
        environment=(
            await asyncio.to_thread(environment_of, service)
            if ProofSource.ENVIRONMENT in asked and service is not None
            else None
        ),
    )


def environment_of(service: RunningService) -> Mapping[str, str] | None:
    """The variables of the service's own process; None where they cannot be read."""
    try:
        if isinstance(service, SystemdUnit):
            return service.environment()
        if service.mark is None:
            return None
        said = Path(f"/proc/{service.mark.pid}/environ").read_bytes()
        return read_environment(said.decode("utf-8", errors="replace"))
    except (OSError, StackControlError):
        return None


async def statement_page(
    launch: ServiceLaunch, path: str | None, http: httpx.AsyncClient
) -> Mapping[str, Any] | None:
    """A page that is one JSON object; None where there is none. Raises StackError."""
    url = launch.url_of(path)
    if url is None:
        return None
    where = f"{launch.name} gave no report of itself at {url}"
    try:
        page = await fetch_page(http, url, deadline_s=REPORT_DEADLINE_S)
    except NO_PAGE as error:
        said = said_by(error, deadline_s=REPORT_DEADLINE_S)
        raise StackError(f"{where}: {said}") from error
    if page.status != HTTPStatus.OK:
        raise StackError(f"{where}: status {page.status}")
    try:
        report = json.loads(page.content)
    except (ValueError, RecursionError) as error:
        raise StackError(f"{where}: what it answered is no JSON") from error
    if not isinstance(report, dict):
        said = f"{launch.name} reported a {type(report).__name__} at {url}, not an object"
        raise StackError(said)
    return report
