"""`decisive import`: judges a run that only left the lines which it printed."""

from pathlib import Path
from typing import Annotated, Any

import typer

from runner.campaign.prediction import Prediction, PredictionError, parse_prediction
from runner.cli.console import say, say_json
from runner.cli.counted_verdict import judge_counts, say_counted_verdict, verdict_json
from runner.cli.exit_statuses import status_of
from runner.cli.input_text import read_input
from runner.cli.options import JsonOption
from runner.errors import RecordedCaseError, UsageError
from runner.evidence.campaign_verdict import Question
from runner.evidence.count_notation import parse_arm
from runner.evidence.counts_question import arm_of_counts
from runner.evidence.printed_run import PrintedRun, read_printed_run
from runner.evidence.summary_lines import summary_lines

_PREDICTION = "corrupt == 0 and wedges == 0"


def import_run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A text with the run's lines; - reads stdin.")
    ],
    versus: Annotated[
        str, typer.Option(help="Corrupt/sessions of the arm compared with: 12/80, 12/80+11/60.")
    ],
    silent: Annotated[
        str, typer.Option(help="Sessions of that arm that gave no evidence: 3, 3+0.")
    ] = "0",
    predict: Annotated[str, typer.Option(help="What was predicted of the run.")] = _PREDICTION,
    as_json: JsonOption = False,
) -> None:
    """Read the lines wall=..., CORRUPTION sessions, peak and WaitingForInput as a run; judge it."""
    printed = _read(file)
    question = Question(
        prediction=_prediction(predict),
        arm=printed.as_arm("after"),
        versus=arm_of_counts("before", parse_arm(versus, silent=silent)),
    )
    verdict = judge_counts(question)
    if as_json:
        say_json({"run": _run_json(printed), **verdict_json(verdict)})
    else:
        for line in _lines(printed):
            say(line)
        say_counted_verdict(question, verdict)
    raise typer.Exit(status_of([verdict]))


def _read(file: Path) -> PrintedRun:
    try:
        return read_printed_run(read_input(file, errors="replace"))
    except RecordedCaseError as error:
        raise RecordedCaseError(f"{file}: {error}") from error
    except ValueError as error:
        raise RecordedCaseError(f"{file}: a number in its lines cannot be read") from error


def _prediction(text: str) -> Prediction:
    try:
        return parse_prediction(text)
    except PredictionError as error:
        allowed = f"; allowed: {', '.join(error.allowed)}" if error.allowed else ""
        raise UsageError(f"--predict: {error.what}; found {error.found}{allowed}") from error


def _lines(printed: PrintedRun) -> tuple[str, ...]:
    """As a run of today prints them."""
    return summary_lines(
        printed.counts,
        wall_s=printed.wall_s,
        peak_running=printed.peak_running,
        wedge_lines=printed.wedge_lines,
        wedge_requests=printed.wedge_requests,
    )


def _run_json(printed: PrintedRun) -> dict[str, Any]:
    counts = printed.counts
    return {
        "counts": {str(outcome): n for outcome, n in counts.by_outcome.items() if n},
        "sessions": counts.all,
        "corrupt": counts.corrupt,
        "evidence": counts.gave_evidence,
        "silent": counts.silent,
        "wall_s": printed.wall_s,
        "peak_running": printed.peak_running,
        "wedge_lines": printed.wedge_lines,
        "wedge_requests": printed.wedge_requests,
    }
