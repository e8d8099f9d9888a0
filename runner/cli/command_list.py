"""The commands by name, so that only the module of the one that is called is imported.

The libraries of all of them together take seconds to import.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from runner.cli.interruption import ended_by_interrupts
from runner.errors import UsageError


class ListedCommand(NamedTuple):
    panel: str  # of the help, under which it stands
    module: str  # within runner.cli
    attribute: str  # a function, or the Typer of several commands
    summary: str  # the first paragraph of its own help, which a test compares


_CAMPAIGN = "A campaign"
_FOUND = "What it found"
_ALONE = "Without a campaign"
_STACKS = "Stacks"

COMMANDS: Mapping[str, ListedCommand] = {
    "plan": ListedCommand(
        _CAMPAIGN,
        "plan_command",
        "plan",
        "Show arms, order, time, and what the plan can answer of its hypotheses; touches nothing.",
    ),
    "run": ListedCommand(
        _CAMPAIGN,
        "run_command",
        "run",
        "Run what is missing of a campaign. Ctrl-C stops after the sessions in flight.",
    ),
    "show": ListedCommand(
        _CAMPAIGN,
        "show_command",
        "show",
        "List the campaigns of a store, or show one: its arms, its runs, its verdicts.",
    ),
    "verdict": ListedCommand(
        _CAMPAIGN,
        "verdict_command",
        "verdict",
        "Say what each hypothesis came to: three answers, reasons, what was left out, what is "
        "next.",
    ),
    "report": ListedCommand(
        _CAMPAIGN,
        "report_command",
        "report",
        "Write a report: Markdown, HTML, PDF, tables, or a bundle of all that it rests on.",
    ),
    "up": ListedCommand(
        _CAMPAIGN,
        "up_command",
        "up",
        "Start the dashboard and a worker; Ctrl-C ends both after the sessions in flight.",
    ),
    "worker": ListedCommand(
        _CAMPAIGN,
        "worker_command",
        "worker",
        "Run what is launched from the dashboard, one campaign after the other.",
    ),
    "sessions": ListedCommand(
        _FOUND,
        "sessions_command",
        "sessions",
        "List the stored sessions that pass a filter, those of the newest runs first.",
    ),
    "diff": ListedCommand(
        _FOUND,
        "diff_command",
        "diff",
        "Lay two campaigns, arms, runs or sessions side by side: settings, logs, transcripts.",
    ),
    "compare": ListedCommand(
        _FOUND,
        "compare_command",
        "compare",
        "Compare counts (5/80 12/80) or two stored runs (r-7 r-3), which is exploratory.",
    ),
    "clusters": ListedCommand(
        _FOUND,
        "clusters_command",
        "clusters",
        "Group the failures of a campaign by what they look like, with what was logged near them.",
    ),
    "blackbox": ListedCommand(
        _FOUND,
        "blackbox_command",
        "blackbox",
        "Show the wedges of a run and what was kept of each; with --to, write that into files.",
    ),
    "repro": ListedCommand(
        _FOUND,
        "repro_command",
        "repro",
        "Write a session and what was in flight around it as requests and a script of their own.",
    ),
    "reduce": ListedCommand(
        _FOUND,
        "reduce_command",
        "reduce",
        "Find the smallest change between two arms that still fails. Ctrl-C keeps all; the same "
        "command goes on.",
    ),
    "rejudge": ListedCommand(
        _FOUND,
        "rejudge_command",
        "rejudge",
        "Judge the stored sessions of a campaign again, from the recorded bytes.",
    ),
    "try": ListedCommand(
        _ALONE,
        "try_command",
        "try_url",
        "Drive tool-calling sessions against URL and say how many were corrupt.",
    ),
    "watch": ListedCommand(
        _ALONE,
        "watch_command",
        "watch",
        "Observe a stack and detect wedges without load; 1 if one was seen.",
    ),
    "logs": ListedCommand(
        _ALONE,
        "logs_command",
        "logs",
        "Find wedges, crashes, aborts and what only looks like them; 1 if any is there.",
    ),
    "import": ListedCommand(
        _ALONE,
        "import_command",
        "import_run",
        "Take in the runs of another tool's result file, marked as imported, beside our own.",
    ),
    "power": ListedCommand(
        _ALONE,
        "power_command",
        "power",
        "Show the sessions, and the runs where they correlate, that show a fall of the rate.",
    ),
    "cases": ListedCommand(
        _ALONE,
        "cases_command",
        "cases",
        "Judge recorded cases; the exit status is 1 if the reading of any differs.",
    ),
    "evidence": ListedCommand(
        _ALONE,
        "evidence_command",
        "evidence",
        "Check recorded evidence; the exit status is 1 if any number or word differs.",
    ),
    "stack": ListedCommand(
        _STACKS,
        "stack_commands",
        "stack",
        "A stack by itself: what it is, whether it can be reached, back to how it was found.",
    ),
    "testbed": ListedCommand(
        _STACKS, "testbed_commands", "testbed", "The embedded miniature serving stack."
    ),
}


class CommandsOnDemand(TyperGroup):
    """Lists its commands from what was registered of them; imports the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _listed, arguments = super().resolve_command(ctx, args)
        return name, name and loaded_command(name), arguments


def loaded_command(name: str) -> Any:
    """The command itself, as Typer makes it of its function. A Ctrl-C on the way ends at once."""
    listed = COMMANDS[name]
    with ended_by_interrupts():
        module = import_module(f"runner.cli.{listed.module}")
    command = getattr(module, listed.attribute)
    if not isinstance(command, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(command)
        command = alone
    return typer.main.get_command(command)


def listing() -> typer.Typer:
    """All commands, none of them imported."""
    app = typer.Typer(
        name="decisive",
        cls=CommandsOnDemand,
        help="A/B debugging campaigns against LLM serving stacks.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    for name, listed in COMMANDS.items():
        app.command(name, help=listed.summary, rich_help_panel=listed.panel)(_listed_only)
    return app


def _listed_only() -> None:
    """Stands for a command in the list; `CommandsOnDemand` puts the one that is called in its
    place.
    """
    raise UsageError("this command is only listed here: call it as `decisive COMMAND`")
