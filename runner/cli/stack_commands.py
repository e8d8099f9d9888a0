"""`decisive stack`: what a stack is, whether it can be reached, and bringing it back."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from db.process_liveness import this_host
from db.stack_lease import release_stack, stack_holder
from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.stack_file import Stack, load_stack
from runner.cli.chosen_configs import open_configs
from runner.cli.console import ExitStatus, say, say_json, tell
from runner.cli.options import ConfigsOption, JsonOption, StoreOption
from runner.cli.stack_text import stack_json, stack_lines
from runner.control.machine import Machine, RealMachine, RehearsedMachine
from runner.control.restore_steps import restore as take_steps
from runner.control.restore_steps import steps_from_json
from runner.errors import UsageError
from runner.execute.stack_check import Finding, check_stack
from runner.execute.take_over import take_over
from runner.execute.worker_identity import holder_of

stack = typer.Typer(
    name="stack",
    help="A stack by itself: what it is, whether it can be reached, back to how it was found.",
    no_args_is_help=True,
    add_completion=False,
)
StackArgument = Annotated[
    str, typer.Argument(metavar="STACK", help="A stack file, or the name of one in the configs.")
]


@stack.command()
def show(
    name: StackArgument,
    configs: ConfigsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show services, levels, what each level does and how it is proved; touches nothing."""
    opened = _open(name, configs)
    if as_json:
        say_json(stack_json(opened))
        return
    for line in stack_lines(opened):
        say(line)


@stack.command()
def check(
    name: StackArgument,
    url: Annotated[
        list[str] | None,
        typer.Option("--url", metavar="SERVICE=URL", help="Where a service runs, if not there."),
    ] = None,
    configs: ConfigsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reach every service as it runs now: pages, logs, rights, clocks. Changes nothing."""
    opened = _open(name, configs)
    findings = asyncio.run(
        check_stack(
            opened, addresses=addresses_of(url or []), environment=os.environ, machine=RealMachine()
        )
    )
    if as_json:
        say_json({"stack": opened.name, "findings": [_finding_json(each) for each in findings]})
    else:
        for each in findings:
            say(f"{each.mark:7} {each.part}: {each.said}")
    if any(each.is_ok is False for each in findings):
        raise typer.Exit(ExitStatus.SOME_FAILED)


@stack.command()
def restore(
    name: Annotated[str, typer.Argument(metavar="STACK", help="The name of the stack.")],
    store: StoreOption = DEFAULT_STORE_URL,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands; run none.")
    ] = False,
) -> None:
    """End what a killed campaign left running, and bring back what it had found."""
    with open_store(store) as opened:
        if dry_run:
            _rehearse_restore(opened, name)
        else:
            _restore(opened, name, RealMachine())


def _restore(store: Store, name: str, machine: Machine) -> None:
    if stack_holder(store, name) is None:
        say(f"nothing to restore: no campaign holds the stack {name} in {store.url}")
        return
    holder = holder_of("restore")
    taken = asyncio.run(take_over(store, name, holder, machine))
    for line in taken.done:
        say(line)
    if taken.failures:
        for line in taken.failures:
            tell(line)
        raise typer.Exit(ExitStatus.SOME_FAILED)
    release_stack(store, name, holder)
    say(f"the stack {name} is as it was found")


def _rehearse_restore(store: Store, name: str) -> None:
    lease = stack_holder(store, name)
    if lease is None:
        say(f"nothing to restore: no campaign holds the stack {name} in {store.url}")
        return
    for service, mark in lease.process_ids.items():
        where = "" if lease.host == this_host() else f" of {lease.host}"
        say(f"end  {service}: process {mark['pid']}{where} and all that it started")
    take_steps(steps_from_json(lease.found), RehearsedMachine(say))


def _open(name: str, configs: Path | None) -> Stack:
    path = Path(name)
    is_path = path.suffix in (".yaml", ".yml") and path.exists()
    return load_stack(path if is_path else open_configs(configs).stack_path(name))


def addresses_of(named: list[str]) -> dict[str, str]:
    """From `SERVICE=URL`. Raises UsageError."""
    found: dict[str, str] = {}
    for each in named:
        service, equals, address = each.partition("=")
        if not equals or not address.startswith(("http://", "https://")):
            raise UsageError(f"--url {each!r} is no SERVICE=URL such as server=http://host:30000")
        found[service] = address
    return found


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {"part": finding.part, "ok": finding.is_ok, "said": finding.said}
