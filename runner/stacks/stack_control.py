"""Brings the services of a stack from one arm to another, changing only what differs.

It knows what is needed to give the stack back as it was found; when that is done is not its
business.
"""

import contextlib
import itertools
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.campaign.campaign import Levels, RestartPolicy
from runner.campaign.level_effect import ProofSource
from runner.campaign.stack_file import Command, Stack
from runner.campaign.stack_shape import LogSource
from runner.control.gpu_memory import GpuMemory, visible_to
from runner.control.host import Host
from runner.control.machine import Machine, RunningService, run_well
from runner.control.ports import free_ports
from runner.control.restore_steps import RestoreStep
from runner.errors import StackError, StackStartError
from runner.observe.journal_follower import JournalFollower
from runner.stacks.arm_proof import checks_of
from runner.stacks.log_sources import log_source_of
from runner.stacks.port_ownership import refuse_taken_addresses
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_control import hold_service, host_of, restore_steps
from runner.stacks.service_launch import (
    ServiceLaunch,
    plan_launches,
    services_that_need_a_port,
    start_order,
)
from runner.stacks.start_log import StartLog

LEVEL_COMMAND_DEADLINE_S = 900.0


@dataclass(slots=True)
class StackControl:
    """One stack in the hands of one campaign. Its methods wait for commands: call them in threads.

    Logs of processes go to `log_folder/label-service.log`, or beside one of that name.
    """

    stack: Stack
    machine: Machine
    log_folder: Path
    _gpus_at_first: dict[Host, Mapping[str, int]] = field(default_factory=dict)
    _gpus_before: dict[Host, Mapping[str, int]] = field(default_factory=dict)
    _held: list[RunningService] = field(default_factory=list)

    @property
    def has_changed(self) -> bool:
        """Whether any service that was there before may be other than it was found."""
        return any(service.has_changed for service in self._held)

    def logs(self) -> tuple[Path, ...]:
        """All that were kept of services of this stack, by whichever campaign."""
        names = [name for name, own in self.stack.services.items() if own.controller.is_ours]
        found = [path for name in names for path in self.log_folder.glob(f"*-{name}*.log")]
        return tuple(sorted(found))

    def restore_steps(self) -> tuple[RestoreStep, ...]:
        """What brings the services back as they are now. Raises StackControlError."""
        launches = plan_launches(self.stack, {}, ports=self._any_ports(), python=sys.executable)
        return tuple(
            step for launch in start_order(launches) for step in restore_steps(launch, self.machine)
        )

    def undo_steps(self, levels: Levels) -> tuple[RestoreStep, ...]:
        """What leaves the levels that commands enter, the last one first."""
        commands = reversed(self.stack.launch_settings(levels).commands)
        return tuple(RestoreStep(_named(each), each.undo) for each in commands if each.undo)

    def can_stay(self, current: RunningStack, levels: Levels, restart: RestartPolicy) -> bool:
        """Whether this arm can be run on what runs now, as one launch with what ran before."""
        if current.settings != self.stack.launch_settings(levels):
            return False
        is_ours = bool(current.processes)
        may_share = restart is RestartPolicy.WHEN_NEEDED and current.ended_service() is None
        return may_share or not is_ours

    def kept(self, current: RunningStack, levels: Levels, restart: RestartPolicy) -> frozenset[str]:
        """The services that this arm needs as they are, with all that they need."""
        if restart is not RestartPolicy.WHEN_NEEDED:
            return frozenset()
        settings = self.stack.launch_settings(levels)
        if settings.endpoint != current.settings.endpoint:
            return frozenset()
        if settings.commands != current.settings.commands:
            return frozenset()
        wanted = plan_launches(self.stack, levels, ports=current.ports, python=sys.executable)
        kept: set[str] = set()
        for launch in start_order(wanted):
            service = current.processes.get(launch.name)
            is_same = current.launch_of(launch.name) == launch
            lives = service is not None and service.exit_status is None
            if is_same and lives and all(need in kept for need in launch.definition.needs):
                kept.add(launch.name)
        return frozenset(kept)

    def hold(
        self,
        levels: Levels,
        *,
        label: str,
        current: RunningStack | None = None,
        kept: Collection[str] = (),
    ) -> RunningStack:
        """The services of this arm: those that are kept, and others that begin when released.

        Raises StackStartError where a program is missing or an address is taken.
        """
        ports = current.ports if current is not None and kept else self._any_ports()
        settings = self.stack.launch_settings(levels)
        launches = plan_launches(self.stack, levels, ports=ports, python=sys.executable)
        new = [each for each in start_order(launches) if each.name not in kept]
        refuse_taken_addresses(new)
        services: dict[str, RunningService] = {
            name: current.processes[name] for name in kept if current is not None
        }
        held: dict[str, RunningService] = {}
        try:
            for launch in new:
                if launch.is_controlled:
                    self._note_gpus(launch)
                    held[launch.name] = hold_service(
                        launch,
                        machine=self.machine,
                        log_path=new_log(self.log_folder, f"{label}-{launch.name}"),
                    )
        except StackError:
            for service in held.values():
                service.stop()
            raise
        self._held += held.values()
        earlier = current.start_logs if current is not None else {}
        logs = {name: log for name, log in earlier.items() if name in kept}
        logs |= self._start_logs(new, levels, held)
        model = self.stack.model if settings.endpoint is None else settings.endpoint.model
        return RunningStack(model, settings, launches, {**services, **held}, ports, logs)

    def _start_logs(
        self,
        launches: Sequence[ServiceLaunch],
        levels: Levels,
        held: Mapping[str, RunningService],
    ) -> dict[str, StartLog]:
        """Of the services whose log is to prove something or not to be read later on, from before
        they begin.
        """
        logs: dict[str, StartLog] = {}
        for launch in launches:
            checks = checks_of(self.stack, levels, launch.name, launch.definition)
            is_passing = launch.definition.log in (LogSource.JOURNAL, LogSource.COMMAND)
            is_asked = any(check.wanted.source is ProofSource.LOG for check in checks)
            if launch.name in held and (is_passing or is_asked):
                path = held[launch.name].log_path
                source = log_source_of(launch, path, from_end=False)
                if isinstance(source, JournalFollower):
                    source.seek_end(lambda words: self.machine.run(words).stdout)
                if source is not None:
                    logs[launch.name] = StartLog(source)
        return logs

    def enter_levels(self, running: RunningStack) -> None:
        """Runs the commands that enter levels. Raises StackControlError."""
        for command in running.settings.commands:
            run_well(self.machine, command.enter, changes=True, deadline_s=LEVEL_COMMAND_DEADLINE_S)

    def stop(self, running: RunningStack, *, kept: Collection[str] = ()) -> None:
        """Ends all services but those kept, and waits until their GPU memory is free.

        Raises StackError after having tried all.
        """
        errors: list[StackError] = []
        stopping = [each for each in start_order(running.launches) if each.name not in kept]
        for launch in reversed(stopping):
            if launch.name in running.start_logs:
                running.start_logs[launch.name].close()
            service = running.processes.get(launch.name)
            if service is not None:
                with _collected(errors):
                    service.stop()
        if not kept:
            for step in [each for each in reversed(running.settings.commands) if each.undo]:
                with _collected(errors):
                    run_well(
                        self.machine, step.undo, changes=True, deadline_s=LEVEL_COMMAND_DEADLINE_S
                    )
            with _collected(errors):
                self._wait_for_gpus()
        if errors:
            raise errors[0]

    def _wait_for_gpus(self) -> None:
        for host, before in list(self._gpus_before.items()):
            gpus = GpuMemory(host, self.machine)
            said = gpus.wait_until_free(before)
            if said is not None:
                raise StackStartError(said)
            # A service that ran when it was found had its share of what was taken before.
            now = gpus.taken_mib() or {} if before else {}
            self._gpus_before[host] = {
                index: min(mib, now.get(index, mib)) for index, mib in before.items()
            }

    def _note_gpus(self, launch: ServiceLaunch) -> None:
        """What the GPUs that this service may use hold before any service of ours has used them."""
        host = host_of(launch)
        if host not in self._gpus_at_first:
            self._gpus_at_first[host] = GpuMemory(host, self.machine).taken_mib() or {}
        inherited = os.environ if launch.is_ours else {}
        of_service = visible_to(self._gpus_at_first[host], {**inherited, **launch.env})
        self._gpus_before[host] = {**of_service, **self._gpus_before.get(host, {})}

    def _any_ports(self) -> Mapping[str, int]:
        needing = services_that_need_a_port(self.stack)
        return dict(zip(needing, free_ports(len(needing)), strict=True))


def new_log(folder: Path, name: str) -> Path:
    """A file that is not there yet: what another store left must not prove an arm of ours."""
    names = itertools.chain([name], (f"{name}~{number}" for number in itertools.count(2)))
    return next(path for each in names if not (path := folder / f"{each}.log").exists())


def release_services(running: RunningStack) -> None:
    """Lets all services begin, those that others need first. Raises StackControlError."""
    for launch in start_order(running.launches):
        service = running.processes.get(launch.name)
        if service is not None:
            service.release()


def _named(command: Command) -> str:
    return f"{command.factor}={command.level}"


@contextlib.contextmanager
def _collected(errors: list[StackError]) -> Iterator[None]:
    try:
        yield
    except StackError as error:
        errors.append(error)
