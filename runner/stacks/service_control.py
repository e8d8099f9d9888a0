"""From a service of an arm to what starts and ends it; touches nothing until it is told to."""

import shlex
from pathlib import Path

from runner.campaign.stack_shape import ControllerName, HostDefinition
from runner.control.host import Host
from runner.control.machine import Machine, RunningService
from runner.control.restore_steps import RestoreStep
from runner.control.service_commands import CommandedService, CommandTemplates, Filling
from runner.control.systemd_unit import SystemdUnit
from runner.stacks.service_launch import ServiceLaunch


def hold_service(launch: ServiceLaunch, *, machine: Machine, log_path: Path) -> RunningService:
    """The service as this arm needs it, which begins when it is released.

    Raises StackStartError where it can be seen that it cannot be started.
    """
    if launch.definition.controller is ControllerName.SYSTEMD:
        return systemd_unit(launch, machine)
    if launch.definition.controller is ControllerName.COMMAND:
        return commanded_service(launch, machine)
    return machine.hold(launch.argv, env=launch.env, log_path=log_path)


def restore_steps(launch: ServiceLaunch, machine: Machine) -> tuple[RestoreStep, ...]:
    """What brings the service back as it is now; nothing for a process, which is ours alone.

    Raises StackControlError where it cannot be found out.
    """
    if launch.definition.controller is ControllerName.SYSTEMD:
        return systemd_unit(launch, machine).restore_steps(launch.name)
    if launch.definition.controller is ControllerName.COMMAND:
        return commanded_service(launch, machine).restore_steps(launch.name)
    return ()


def systemd_unit(launch: ServiceLaunch, machine: Machine) -> SystemdUnit:
    definition = launch.definition
    assert definition.unit is not None, "a stack file that was accepted names it"
    env = dict(launch.env)
    if definition.args_variable is not None:
        env[definition.args_variable] = shlex.join(launch.args)
    return SystemdUnit(definition.unit, host_of(launch), machine, argv=launch.argv, env=env)


def commanded_service(launch: ServiceLaunch, machine: Machine) -> CommandedService:
    commands = launch.definition.commands
    assert commands is not None, "a stack file that was accepted names them"
    return CommandedService(
        launch.name,
        CommandTemplates(
            start=commands.start,
            stop=commands.stop,
            status=commands.status,
            found=commands.found,
            restore=commands.restore,
        ),
        Filling(launch.argv, launch.env, fill=launch.fill),
        host_of(launch),
        machine,
    )


def host_of(launch: ServiceLaunch) -> Host:
    return host_named(launch.definition.host, launch.host)


def host_named(name: str | None, definition: HostDefinition) -> Host:
    return Host(
        name=name or "this machine",
        ssh=definition.ssh,
        become=definition.become,
        systemctl=definition.systemctl,
        journalctl=definition.journalctl,
        nvidia_smi=definition.nvidia_smi,
        drop_ins=definition.drop_ins,
    )
