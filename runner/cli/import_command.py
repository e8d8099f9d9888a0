"""`decisive import`: runs that other tools made, taken into a store or judged by their lines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from db.identifiers import IdKind, format_id
from db.store import open_store
from db.store_url import DEFAULT_STORE_URL
from db.tables.runs import RunRow
from runner.campaign.file_shape import Name
from runner.campaign.prediction import Prediction, PredictionError, parse_prediction
from runner.cli.console import say, say_json
from runner.cli.counted_verdict import judge_counts, say_counted_verdict, verdict_json
from runner.cli.exit_statuses import status_of
from runner.cli.input_text import read_input
from runner.cli.options import JsonOption, StoreOption
from runner.errors import RecordedCaseError, UsageError
from runner.evidence.campaign_verdict import Question
from runner.evidence.count_notation import parse_arm
from runner.evidence.counts_question import arm_of_counts
from runner.evidence.printed_run import PrintedRun, read_printed_run
from runner.evidence.summary_lines import summary_lines
from runner.execute.run_counts import outcome_counts
from runner.imported.result_files import read_result_file
from runner.imported.stored_import import ImportAs, store_imported

_NAME: TypeAdapter[str] = TypeAdapter(Name)
_PREDICTION = "corrupt == 0 and wedges == 0"


def import_run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A result file of another tool; - reads stdin.")
    ],
    versus: Annotated[
        str | None,
        typer.Option(
            help="Judge printed lines against corrupt/sessions of another arm, 12/80 or "
            "12/80+11/60, and store nothing.",
            show_default=False,
        ),
    ] = None,
    silent: Annotated[
        str, typer.Option(help="Sessions of that arm that gave no evidence: 3, 3+0.")
    ] = "0",
    predict: Annotated[str, typer.Option(help="What was predicted of the run.")] = _PREDICTION,
    campaign: Annotated[
        str | None,
        typer.Option(
            help="The campaign that the runs enter, beside other imports.",
            show_default="imported, and imported-lines for printed lines",
        ),
    ] = None,
    arm: Annotated[
        str | None,
        typer.Option(
            help="The arm that they are runs of; else tool and model.", show_default=False
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(help="A level of that arm, factor=level; may be repeated.", metavar="F=L"),
    ] = None,
    store_url: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Take in the runs of another tool's result file, marked as imported, beside our own.

    Known are guidellm, `vllm bench serve`, sglang.bench_serving, aiperf, chat requests and
    responses as JSON lines, and the lines wall=..., CORRUPTION sessions, peak and WaitingForInput
    that a run prints. What a file cannot say stays empty.
    """
    if versus is not None:
        _judge_printed(file, versus, silent=silent, predict=predict, as_json=as_json)
        return
    _check_name(campaign)
    content = read_input(file, errors="replace")
    try:
        runs = read_result_file(content)
    except RecordedCaseError as error:
        raise RecordedCaseError(f"{file}: {error}") from error
    # Printed lines tell outcomes that no other file does, and a campaign has one list of them.
    name = campaign or ("imported" if runs[0].counts is None else "imported-lines")
    names = ImportAs(campaign=name, arm=arm, levels=_levels(level or []), source_path=str(file))
    with open_store(store_url) as store:
        stored = store_imported(store, runs, content, names)
    _say_stored(stored, campaign=name, as_json=as_json)


def _say_stored(stored: Sequence[RunRow], *, campaign: str, as_json: bool) -> None:
    if as_json:
        say_json({"campaign": campaign, "runs": [_stored_json(run) for run in stored]})
        return
    for run in stored:
        counts = ", ".join(f"{name} {n:,}" for name, n in outcome_counts(run).items())
        say(f"{_run_name(run)} in campaign {campaign}: {counts or 'no session can be judged'}")
        say(f"  {run.reason}")


def _stored_json(run: RunRow) -> dict[str, Any]:
    return {
        "run": _run_name(run),
        "said": run.reason,
        "counts": outcome_counts(run),
        "requests": run.sessions_planned,
        "wall_s": run.wall_s,
        **run.client_health,
    }


def _run_name(run: RunRow) -> str:
    return "" if run.id is None else format_id(IdKind.RUN, run.id)


def _check_name(campaign: str | None) -> None:
    """Raises UsageError for what no campaign file could be called."""
    try:
        _NAME.validate_python("imported" if campaign is None else campaign)
    except ValidationError as error:
        raise UsageError(
            f"--campaign {campaign!r}: a name has letters, digits, `.`, `_` and `-`, 64 at most"
        ) from error


def _levels(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for factor, equals, value in pairs:
        if not (factor and equals and value):
            raise UsageError(f"--level {factor}{equals}{value}: wanted is factor=level")
    return {factor: value for factor, _, value in pairs}


def _judge_printed(file: Path, versus: str, *, silent: str, predict: str, as_json: bool) -> None:
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
