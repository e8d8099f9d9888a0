"""Keeps the servers of one campaign in the arm that is due, under a lease on their stack."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from db.launches import (
    add_fingerprint,
    end_abandoned_launches,
    launch_ended,
    launch_ready,
    record_launch,
)
from db.stack_lease import Holder, note_found, note_processes, release_stack, renew_stack
from db.store import Store
from runner.campaign.campaign import Levels, RestartPolicy
from runner.campaign.stack_file import Stack
from runner.control.machine import Machine, RealMachine
from runner.control.process_group import ProcessMark
from runner.control.restore_steps import RestoreStep, restore, steps_to_json
from runner.control.secret_files import hide_in_file
from runner.control.secrets import Secrets
from runner.errors import StackControlError, StackError
from runner.execute.off_loop import off_loop
from runner.execute.take_over import take_over
from runner.stacks.fingerprint import launch_facts, redacted
from runner.stacks.machine_facts import machine_facts
from runner.stacks.running_stack import RunningStack, wait_for_services
from runner.stacks.service_connection import ServiceKeys
from runner.stacks.stack_control import StackControl, release_services
from runner.stacks.statements import statements_of
from runner.stacks.verification import Statement


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
        machine: Machine | None = None,
        keys: ServiceKeys | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        self._store = store
        self._stack = stack
        self._campaign_id = campaign_id
        self._restart = restart
        self._holder = holder
        self._http = http
        self._machine = machine or RealMachine()
        self._keys = keys
        self._secrets = secrets or Secrets()
        self._control = StackControl(stack, self._machine, log_folder)
        self._current: LaunchedStack | None = None
        self._way_back: tuple[RestoreStep, ...] | None = None
        self._said: Mapping[str, Statement] = {}

    @property
    def stack_name(self) -> str:
        return self._stack.name

    async def take_lease(self) -> tuple[str, ...]:
        """Takes the stack and brings back what a dead holder had left; what was done, in words.

        Raises StackLeasedError where another worker drives it, StackControlError where it cannot
        be brought back.
        """
        taken = await take_over(self._store, self._stack.name, self._holder, self._machine)
        await off_loop(
            end_abandoned_launches,
            self._store,
            self._stack.name,
            reason="whoever had started it was killed",
        )
        if taken.done:
            await off_loop(self._hide_in_logs, self._control.logs())
        if taken.failures:
            raise StackControlError(
                f"{'; '.join(taken.failures)}. Mend that, or see `decisive stack restore "
                f"{self._stack.name}`"
            )
        return taken.done

    def renew_lease(self) -> None:
        """Raises LeaseLostError."""
        renew_stack(self._store, self._stack.name, self._holder)

    async def enter(self, levels: Levels, *, label: str) -> LaunchedStack:
        """Services with the flags of these levels: those that run, or new ones. Not yet ready.

        Where launches may be shared, only the services that differ are started anew.
        Raises StackStartError, StackControlError.
        """
        current = self._current
        if current is not None and self._control.can_stay(current.running, levels, self._restart):
            return current
        kept = await self._kept(levels)
        await self.leave("another arm is due", kept=kept)
        running = await asyncio.to_thread(
            self._control.hold,
            levels,
            label=label,
            current=current.running if current is not None else None,
            kept=kept,
        )
        try:
            # None of them begins before it is noted: whoever takes over finds all that run.
            await self._note_processes(running.marks())
            await self._note_way_back(levels, running)
            self._current = LaunchedStack(running, await self._recorded(running))
            if self._keys is not None:
                self._keys.use(running.launches)
            await off_loop(self._control.enter_levels, running)
            await off_loop(release_services, running)
        except BaseException:
            self._current = None
            with contextlib.suppress(StackError):  # what went wrong first is what is told
                await off_loop(self._control.stop, running)
            await off_loop(self._hide_in_logs, running.log_paths())
            raise
        return self._current

    async def _kept(self, levels: Levels) -> frozenset[str]:
        if self._current is None:
            return frozenset()
        return await asyncio.to_thread(
            self._control.kept, self._current.running, levels, self._restart
        )

    async def _note_way_back(self, levels: Levels, running: RunningStack) -> None:
        """Before the first change: how the stack is given back."""
        if self._way_back is None and running.processes:
            self._way_back = await asyncio.to_thread(self._control.restore_steps)
        steps = (*self._control.undo_steps(levels), *(self._way_back or ()))
        await off_loop(
            note_found,
            self._store,
            self._stack.name,
            self._holder,
            found=steps_to_json(steps, host=self._holder.host),
        )

    async def _recorded(self, running: RunningStack) -> int:
        launch = await off_loop(
            record_launch,
            self._store,
            self._campaign_id,
            stack=self._stack.name,
            commands={
                each.name: self._secrets.hidden_in(
                    {"argv": list(each.argv), "env": redacted(dict(each.env))}
                )
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

    async def wait_until_ready(self, launched: LaunchedStack) -> None:
        """Raises StackStartError where a service does not come up."""
        await wait_for_services(launched.running, http=self._http, clock=self._store.clock)
        await off_loop(launch_ready, self._store, launched.launch_id)

    async def statements(self, launched: LaunchedStack, levels: Levels) -> Mapping[str, Statement]:
        """What the services say of themselves now. Raises StackError where one gives no report."""
        self._said = await statements_of(
            self._stack, levels, launched.running, http=self._http, clock=self._store.clock
        )
        return self._said

    async def note_fingerprints(self, launched: LaunchedStack) -> None:
        """Keeps with the launch what the services last said, and what they run on.

        Their start is over: its log is not read on.
        """
        for log in launched.running.start_logs.values():
            log.close()
        machines = await asyncio.to_thread(machine_facts, launched.running.launches, self._machine)
        for name, facts in {**launch_facts(self._said), **machines}.items():
            await off_loop(
                add_fingerprint,
                self._store,
                launched.launch_id,
                service=name,
                facts=self._secrets.hidden_in(facts),
            )

    async def leave(self, reason: str, *, kept: frozenset[str] = frozenset()) -> None:
        """Ends the services of ours but those kept, if any run. Raises StackError."""
        if self._current is None:
            return
        launched, self._current = self._current, None
        try:
            await off_loop(self._control.stop, launched.running, kept=kept)
        finally:
            await off_loop(self._hide_in_logs, launched.running.log_paths())
            await off_loop(launch_ended, self._store, launched.launch_id, reason=reason)
        if not kept:
            await self._note_processes({})

    def _hide_in_logs(self, paths: Iterable[Path]) -> None:
        """Servers write their logs themselves, and may write the keys that they are sent."""
        for path in paths:
            with contextlib.suppress(OSError):
                hide_in_file(path, self._secrets)

    def kill_now(self) -> None:
        """Ends our processes at once and from any thread: this process is about to end.

        What others run for us is brought back by the next start, or by `decisive stack restore`.
        """
        if self._current is not None:
            for service in self._current.running.processes.values():
                if service.mark is not None:
                    service.stop(grace_s=0.0)

    async def close(self) -> tuple[str, ...]:
        """Ends the services and gives the stack back as it was found; what failed, in words.

        Where something failed the lease keeps what is still to be restored.
        """
        failures: list[str] = []
        try:
            await self.leave("the campaign has ended")
        except StackError as error:
            failures.append(str(error))
        if self._way_back and self._control.has_changed:
            failures += await off_loop(restore, self._way_back, self._machine)
        if not failures:
            await off_loop(release_stack, self._store, self._stack.name, self._holder)
        return tuple(failures)
