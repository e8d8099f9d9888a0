"""`decisive evidence`: computes recorded tables, sequences and verdicts and says what differs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from runner.cli.console import ExitStatus, say, say_json
from runner.cli.input_text import read_input
from runner.cli.options import JsonOption
from runner.errors import RecordedCaseError
from runner.evidence.evidence_file import EvidenceCheck, check_evidence


def evidence(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="Tables and sequences, or verdicts.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Check recorded evidence; the exit status is 1 if any number or word differs."""
    check = _checked(file)
    if as_json:
        say_json(_check_json(check))
    else:
        _say(check)
    raise typer.Exit(ExitStatus.SOME_FAILED if check.differences else ExitStatus.FINE)


def _checked(file: Path) -> EvidenceCheck:
    text = read_input(file)
    try:
        return check_evidence(text)
    except RecordedCaseError as error:
        raise RecordedCaseError(f"{file}: {error}") from error
    except (ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        what = "holds a number or a nesting too large to be computed"
        raise RecordedCaseError(f"{file} {what} ({type(error).__name__})") from error


def _check_json(check: EvidenceCheck) -> dict[str, Any]:
    return {
        "cases": check.cases,
        "right": check.right,
        "of": check.of,
        "differ": [
            {
                "case": each.case,
                "quantity": each.quantity,
                "given": each.given,
                "computed": each.computed,
            }
            for each in check.differences
        ],
    }


def _say(check: EvidenceCheck) -> None:
    for each in check.differences:
        computed = "none" if each.computed is None else each.computed
        say(f"{each.case} {each.quantity}: the file gives {each.given}, computed is {computed}")
    say(f"{check.right:,} of {check.of:,} entries of {check.cases:,} cases agree")
