"""Tells all that a campaign would do to its stack, in order, and does none of it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import join

from runner.campaign.campaign import Arm, Campaign, PlannedRun
from runner.campaign.owner_switches import proving_services, wanted_change
from runner.campaign.stack_file import Stack
from runner.control.machine import RehearsedMachine
from runner.control.restore_steps import restore
from runner.evidence.number_words import counted_text
from runner.execute.arm_switch import switch_sentence
from runner.execute.eviction import planned_flood
from runner.execute.run_watch import wedge_patience
from runner.stacks.cache_flush import flush_requests
from runner.stacks.running_stack import RunningStack, readiness_probe
from runner.stacks.service_launch import ServiceLaunch
from runner.stacks.stack_control import StackControl, release_services
from runner.stacks.warm_up import REQUESTS

Say = Callable[[str], None]


def rehearse(campaign: Campaign, stack: Stack, runs: Sequence[PlannedRun], *, say: Say) -> None:
    """The same steps as a campaign takes, on a machine that only says them.

    Raises StackError as the campaign would, where that can be seen before.
    """
    restart = campaign.schedule.restart
    control = StackControl(stack, RehearsedMachine(say), Path("decisive-logs"))
    say("# what is found, before anything is changed")
    way_back = control.restore_steps()
    current: RunningStack | None = None
    for run in runs:
        levels = run.arm.levels
        say(f"# block {run.block}: {run.arm.name}")
        if current is not None and control.can_stay(current, levels, restart):
            say("     as it is")
        else:
            kept = control.kept(current, levels, restart) if current is not None else frozenset()
            if current is not None:
                control.stop(current, kept=kept)
            for name in sorted(kept):
                say(f"     {name} stays as it is")
            label = f"r-{run.position + 1}"
            current = control.hold(levels, label=label, current=current, kept=kept)
            _say_of_others(campaign, stack, run.arm, current, say)
            control.enter_levels(current)
            release_services(current)
        for line in _requests_of(campaign, run, current):
            say(line)
    say("# the end: everything as it was found")
    if current is not None:
        control.stop(current)
    restore(way_back, control.machine)


def _requests_of(campaign: Campaign, run: PlannedRun, running: RunningStack) -> Iterator[str]:
    """What is sent in this run, but questions that change nothing."""
    chat, arm = f"POST {running.chat_url}", run.arm
    within_s = readiness_probe(running, running.entry).ready_within_s
    yield f"send readiness: one generation, again until it is answered, {within_s:g} s: {chat}"
    yield f"send warm-up: {REQUESTS} requests: {chat}"
    for request in flush_requests(running, clears_storage=True):
        yield f"send POST {request.url}"
    wanted = campaign.workload.evict_flood
    flood = planned_flood(wanted, running, sessions=arm.sessions) if wanted is not None else None
    if flood is not None:
        yield f"send flood: {flood}: {chat}"
    yield f"send {counted_text(arm.sessions, 'session')}, {arm.concurrency:,} at a time: {chat}"
    quiet_s = wedge_patience(campaign).quiet_s
    yield f"send canary: one request whenever no token came for {quiet_s:g} s: {chat}"
    for request in flush_requests(running):
        yield f"send POST {request.url}"


def _say_of_others(
    campaign: Campaign, stack: Stack, arm: Arm, running: RunningStack, say: Say
) -> None:
    """Where services of others are, and what is asked of those who run them, if it is needed."""

    def change_at(service: str) -> str:
        return wanted_change(stack, campaign.factors, arm.levels, service)

    for launch in running.launches:
        if not launch.is_controlled:
            say(f"     {launch.name} at {launch.base_url} is checked")
    names = proving_services(stack, arm.levels)
    asked = [each for each in running.launches if each.name in names and change_at(each.name)]
    if asked:
        say(f"     where it is not so: {switch_sentence(asked, arm.name, change_at)}")
    for launch in running.launches:
        if not launch.is_controlled and launch not in asked and (change := _unasked(launch)):
            say(f"     nothing proves that {launch.name} has {change}: nobody is asked for it")


def _unasked(launch: ServiceLaunch) -> str:
    return join([*launch.args, *(f"{name}={value}" for name, value in launch.level_env.items())])
