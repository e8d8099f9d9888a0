"""`decisive cases`: judges recorded cases and prints those whose reading differs."""

from pathlib import Path
from typing import Annotated

import typer

from runner.cli.chosen_configs import open_configs
from runner.cli.console import ExitStatus, say, say_json
from runner.cli.options import ConfigsOption, JsonOption
from runner.errors import UsageError
from runner.judge.recorded_cases import KINDS, CaseComparison, CaseReaders, compare_cases
from runner.observe.case_readers import case_readers
from runner.observe.event_catalogue import load_catalogue


def cases(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="One case a line.")],
    configs: ConfigsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge recorded cases; the exit status is 1 if the reading of any differs."""
    comparison = _compare(file, case_readers(load_catalogue(open_configs(configs).event_files())))
    if not comparison.readings:
        raise UsageError(f"{file} holds no case, so that nothing was judged: a case is a line")
    if as_json:
        say_json(comparison.to_json())
    else:
        _say(comparison)
    differs = any(not reading.is_right for reading in comparison.readings)
    raise typer.Exit(ExitStatus.SOME_FAILED if differs else ExitStatus.FINE)


def _compare(file: Path, readers: CaseReaders) -> CaseComparison:
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:
            return compare_cases(lines, source=str(file), readers=readers)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 ({error.reason} at byte {error.start})") from error


def _say(comparison: CaseComparison) -> None:
    for reading in comparison.readings:
        if not reading.is_right:
            say(f"{reading.case.id}: got {reading.got}, expected {reading.expected}")
    counted = comparison.to_json()
    for kind in KINDS:
        count = counted[kind]
        assert isinstance(count, dict)
        if count["of"]:
            say(f"{kind}: {count['right']} of {count['of']} right")
