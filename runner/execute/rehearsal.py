"""Tells every command that a campaign would run on its stack, in order, and runs none of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from runner.campaign.campaign import PlannedRun, RestartPolicy
from runner.campaign.stack_file import Stack
from runner.control.machine import RehearsedMachine
from runner.control.restore_steps import restore
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ServiceLaunch
from runner.stacks.stack_control import StackControl, release_services

Say = Callable[[str], None]


def rehearse(stack: Stack, runs: Sequence[PlannedRun], restart: RestartPolicy, *, say: Say) -> None:
    """The same steps as a campaign takes, on a machine that only says them.

    Raises StackError as the campaign would, where that can be seen before.
    """
    control = StackControl(stack, RehearsedMachine(say), Path("decisive-logs"))
    say("# what is found, before anything is changed")
    way_back = control.restore_steps()
    current: RunningStack | None = None
    for run in runs:
        levels = run.arm.levels
        say(f"# block {run.block}: {run.arm.name}")
        if current is not None and control.can_stay(current, levels, restart):
            say("     as it is")
            continue
        kept = control.kept(current, levels, restart) if current is not None else frozenset()
        if current is not None:
            control.stop(current, kept=kept)
        for name in sorted(kept):
            say(f"     {name} stays as it is")
        current = control.hold(levels, label=f"r-{run.position + 1}", current=current, kept=kept)
        _say_addresses(current, say)
        control.enter_levels(current)
        release_services(current)
    say("# the end: everything as it was found")
    if current is not None:
        control.stop(current)
    restore(way_back, control.machine)


def _say_addresses(running: RunningStack, say: Say) -> None:
    for launch in running.launches:
        if not launch.is_controlled:
            wanted = _wanted(launch)
            say(f"     {launch.name} at {launch.base_url} is checked{wanted}")


def _wanted(launch: ServiceLaunch) -> str:
    """What somebody else is asked for."""
    words = [*launch.args, *(f"{name}={value}" for name, value in launch.level_env.items())]
    return f", and somebody is asked for: {' '.join(words)}" if words else ""
