"""`decisive power`: how many sessions or runs it takes to tell two rates apart."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from runner.cli.console import result_console, say, say_json
from runner.cli.options import JsonOption
from runner.errors import UsageError
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.number_words import rho_text, share_text
from runner.evidence.planner import MAX_RUNS
from runner.evidence.power_table import CORRELATIONS, PowerRow, power_table
from runner.evidence.statistical_power import SessionsNeeded

# The simulation holds exact tables of up to five such runs an arm.
MOST_SESSIONS_A_RUN = 500
SMALLEST_FALL = 1e-9


def power(
    before: Annotated[float, typer.Argument(metavar="BEFORE", help="The rate now: 0.15.")],
    after: Annotated[float, typer.Argument(metavar="AFTER", help="The lower rate: 0.06.")],
    sessions: Annotated[
        int, typer.Option(min=1, max=MOST_SESSIONS_A_RUN, help="Sessions of one run.")
    ] = 80,
    as_json: JsonOption = False,
) -> None:
    """Show the sessions, and the runs where they correlate, that show a fall of the rate."""
    if not (0.0 <= after <= 1.0 and 0.0 <= before <= 1.0):
        raise UsageError(f"rates lie from 0 to 1, such as 0.15 and 0.06, not {before:g} {after:g}")
    if after >= before:
        raise UsageError(
            f"the higher rate comes first and the two must differ, not {before:g} {after:g}"
        )
    if before - after < SMALLEST_FALL:
        raise UsageError(
            f"a fall below {SMALLEST_FALL:g} takes more sessions than can be counted, "
            f"not {before:g} {after:g}"
        )
    rows = power_table(before, after, sessions_a_run=sessions)
    alpha = DecisionRule().alpha_of_direction
    if as_json:
        say_json(_power_json(before, after, sessions, alpha, rows))
        return
    say(f"To show a fall from {share_text(before)} to {share_text(after)}, alpha {alpha:g}:")
    result_console().print(_table(rows, sessions=sessions))
    say("ICC: how much the sessions of one run resemble each other; 0.02 is assumed of repeated")
    say("runs and 0.05 of single ones. Two runs an arm are the fewest that measure it.")


def _power_json(
    before: float, after: float, sessions: int, alpha: float, rows: Sequence[PowerRow]
) -> dict[str, Any]:
    return {
        "before": before,
        "after": after,
        "alpha": alpha,
        "sessions_a_run": sessions,
        "rows": [
            {
                "power": row.power,
                "sessions_per_arm": row.sessions.kept,
                "first_reached_at": row.sessions.reached,
                "exact": row.sessions.exact,
                "runs_per_arm": [{"icc": rho, "runs": n} for rho, n in row.runs.items()],
            }
            for row in rows
        ],
        "most_runs_tried": MAX_RUNS,
    }


def _table(rows: Sequence[PowerRow], *, sessions: int) -> Table:
    table = Table()
    table.add_column("power", justify="right")
    table.add_column("independent sessions an arm", justify="right")
    for rho in CORRELATIONS:
        table.add_column(f"runs of {sessions} an arm, ICC {rho_text(rho)}", justify="right")
    for row in rows:
        table.add_row(
            share_text(row.power),
            _sessions(row.sessions),
            *(_runs(runs) for runs in row.runs.values()),
        )
    return table


def _sessions(needed: SessionsNeeded) -> str:
    return f"{needed.kept:,}" if needed.exact else f"about {needed.kept:,}"


def _runs(runs: int | None) -> str:
    return f"more than {MAX_RUNS}" if runs is None else str(runs)
