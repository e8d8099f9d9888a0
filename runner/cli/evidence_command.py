"""`decisive evidence`: computes recorded tables, sequences and verdicts and says what differs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from runner.cli.console import ExitStatus, say, say_json
from runner.cli.input_text import read_input
from runner.cli.options import JsonOption
from runner.errors import RecordedCaseError
from runner.evidence.evidence_file import EvidenceCheck, check_evidence
from runner.evidence.number_words import counted_text


def evidence(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="Tables and sequences, or verdicts.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Check recorded evidence; the exit status is 1 if any number or word differs.

    It is 3 if none does and an entry has a name that nothing is computed for.
    """
    check = _checked(file)
    if as_json:
        say_json(_check_json(check))
    else:
        _say(check)
    raise typer.Exit(_status(check))


def _status(check: EvidenceCheck) -> ExitStatus:
    if check.differences:
        return ExitStatus.SOME_FAILED
    return ExitStatus.COULD_NOT_SAY if check.not_computed else ExitStatus.FINE


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
        "not_computed": [
            {"case": each.case, "quantity": each.quantity} for each in check.not_computed
        ],
    }


def _say(check: EvidenceCheck) -> None:
    for each in check.differences:
        is_interval = isinstance(each.computed, tuple)
        computed = list(each.computed) if is_interval else each.computed
        computed = "none" if computed is None else computed
        say(f"{each.case} {each.quantity}: the file gives {each.given}, computed is {computed}")
    for unknown in check.not_computed:
        say(f"{unknown.case} {unknown.quantity}: not checked, nothing of this name is computed")
    say(f"{check.right:,} of {check.of:,} entries of {counted_text(check.cases, 'case')} agree")
