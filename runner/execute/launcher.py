"""Keeps the servers of one campaign in the arm that is due, under a lease on their stack."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from db.launches import add_fingerprint, launch_ended, launch_ready, record_launch
from db.process_liveness import this_host
from db.stack_lease import (
    Holder,
    acquire_stack,
    note_processes,
    release_stack,
    renew_stack,
)
from db.store import Store
from db.tables import StackLeaseRow
from db.workers import liveness_now
from runner.campaign.campaign import Levels, RestartPolicy
from runner.campaign.stack_file import Stack
from runner.control.process_group import ProcessMark, end_members
from runner.execute.off_loop import off_loop
from runner.stacks.fingerprint import client_facts, redacted
from runner.stacks.running_stack import (
    RunningStack,
    hold_services,
    release_services,
    server_reports,
    stop_services,
    wait_for_services,
)


@dataclass(frozen=True, slots=True)
class LaunchedStack:
    """Services that are up, and the row of their launch."""

    running: RunningStack
    launch_id: int


class Launcher:
    """One per campaign; `close` it, or servers of ours would outlive it."""

    def __init__(
        self,
        *,
        store: Store,
        stack: Stack,
        campaign_id: int,
        restart: RestartPolicy,
        holder: Holder,
        http: httpx.AsyncClient,
        log_folder: Path,
    ) -> None:
        self._store = store
        self._stack = stack
        self._campaign_id = campaign_id
        self._restart = restart
        self._holder = holder
        self._http = http
        self._log_folder = log_folder
        self._current: LaunchedStack | None = None

    async def take_lease(self) -> int:
        """Takes the stack; how many services of a dead holder were ended for it.

        Raises StackLeasedError where another worker drives it.
        """
        acquired = await off_loop(
            acquire_stack,
            self._store,
            self._stack.name,
            self._holder,
            liveness=liveness_now(self._store),
        )
        left = acquired.left_behind
        ended = await asyncio.to_thread(_end_services_of, left) if left is not None else 0
        await self._note_processes({})
        return ended

    def renew_lease(self) -> None:
        """Raises LeaseLostError."""
        renew_stack(self._store, self._stack.name, self._holder)

    async def enter(self, levels: Levels, *, label: str) -> LaunchedStack:
        """Services with the flags of these levels: those that run, or new ones. Not yet ready.

        Raises StackStartError.
        """
        current = self._current
        if current is not None and self._can_stay(current, levels):
            return current
        await self.leave("another arm is due")
        running = await asyncio.to_thread(
            hold_services, self._stack, levels, log_folder=self._log_folder, label=label
        )
        try:
            # None of them begins before it is noted: whoever takes over finds all that run.
            await self._note_processes(running.marks())
            self._current = LaunchedStack(running, await self._recorded(running))
            release_services(running)
        except BaseException:
            await stop_services(running)
            raise
        return self._current

    async def _recorded(self, running: RunningStack) -> int:
        launch = await off_loop(
            record_launch,
            self._store,
            self._campaign_id,
            stack=self._stack.name,
            commands={
                each.name: {"argv": list(each.argv), "env": dict(each.env)}
                for each in running.launches
            },
            process_ids={name: mark.pid for name, mark in running.marks().items()},
        )
        assert launch.id is not None
        return launch.id

    async def _note_processes(self, marks: Mapping[str, ProcessMark]) -> None:
        await off_loop(
            note_processes,
            self._store,
            self._stack.name,
            self._holder,
            process_ids={name: mark.to_json() for name, mark in marks.items()},
        )

    async def wait_until_ready(self, launched: LaunchedStack) -> Mapping[str, Mapping[str, Any]]:
        """The reports of the services, once all are ready; kept as fingerprints of the launch.

        Raises StackStartError, StackError.
        """
        await wait_for_services(launched.running, http=self._http, clock=self._store.clock)
        await off_loop(launch_ready, self._store, launched.launch_id)
        reports = await server_reports(launched.running, http=self._http)
        facts = {name: redacted(report) for name, report in reports.items()}
        for name, report in {**facts, "client": client_facts()}.items():
            await off_loop(
                add_fingerprint, self._store, launched.launch_id, service=name, facts=report
            )
        return reports

    async def leave(self, reason: str) -> None:
        """Ends the services of ours, if any run."""
        if self._current is None:
            return
        launched, self._current = self._current, None
        await stop_services(launched.running)
        await off_loop(launch_ended, self._store, launched.launch_id, reason=reason)
        await self._note_processes({})

    def kill_now(self) -> None:
        """Ends the services of ours at once and from any thread: the process is about to end."""
        if self._current is not None:
            for process in self._current.running.processes.values():
                process.stop(grace_s=0.0)

    async def close(self) -> None:
        """Ends the services and gives the stack back."""
        await self.leave("the campaign has ended")
        await off_loop(release_stack, self._store, self._stack.name, self._holder)

    def _can_stay(self, current: LaunchedStack, levels: Levels) -> bool:
        if not current.running.processes:
            return True
        return (
            self._restart is RestartPolicy.WHEN_NEEDED
            and current.running.settings == self._stack.launch_settings(levels)
            and current.running.ended_service() is None
        )


def _end_services_of(left: StackLeaseRow) -> int:
    """Ends what a dead holder had started, where it ran on this machine."""
    if left.host != this_host():
        return 0
    marks = [ProcessMark.from_json(value) for value in left.process_ids.values()]
    return sum(end_members(mark) for mark in marks)
