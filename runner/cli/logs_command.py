"""`decisive logs`: reads a log by hand and says what in it means something."""

import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.markup import escape
from rich.table import Table

from runner.cli.chosen_configs import open_configs
from runner.cli.console import ExitStatus, result_console, say, say_json
from runner.cli.interruption import ended_by_interrupts
from runner.cli.options import ConfigsOption, JsonOption
from runner.errors import UsageError
from runner.observe.event_catalogue import load_catalogue
from runner.observe.log_findings import LogFinding
from runner.observe.log_reading import LogReading
from runner.observe.log_scan import scan_log
from runner.observe.log_times import seconds_of
from runner.observe.own_ends import OwnEnds
from runner.report.visible_text import one_line

_COLUMNS = ("class", "event", "events", "lines", "requests", "where", "from", "to", "line")
_PACKED = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\x00", "bzip2": b"BZh"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LETTERS_BETWEEN_NULS = 0.4
_PEEKED_BYTES = 4096
_OF_TEXT = b"\0\t\n\v\f\r\x1b" + bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100))
_MOST_STRANGE = 0.02
_EMPTY = "empty"
_FINE = frozenset({"benign", "slow", "pressure", "parser"})


def logs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A log; - reads standard input.")],
    ended: Annotated[
        list[str] | None,
        typer.Option(
            "--ended", metavar="RID[=TIME]", help="A request that we had ended ourselves."
        ),
    ] = None,
    year: Annotated[
        int | None,
        typer.Option(min=1970, max=2999, help="Of times without one.", show_default="this year"),
    ] = None,
    configs: ConfigsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find wedges, crashes, aborts and what only looks like them; 1 if any is there.

    3 where there is no line. Plain files, journald's JSON, docker's and Kubernetes' files are
    read as they are.
    """
    catalogue = load_catalogue(open_configs(configs).event_files())
    chosen_year = year or datetime.now(tz=UTC).year
    own = _own_ends(ended or [], year=chosen_year)
    try:
        with ended_by_interrupts(), _opened(file) as log:
            _refuse_binary(file, log)
            reading = scan_log(log, catalogue, own=own, year=chosen_year)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    if as_json:
        say_json({**reading.to_json(), "verdict": _verdict(reading)})
    else:
        _say(reading)
    raise typer.Exit(_status(reading))


def _verdict(reading: LogReading) -> str:
    """A log without a line proves nothing bad, and nothing good."""
    return reading.verdict if reading.records else _EMPTY


def _status(reading: LogReading) -> ExitStatus:
    if not reading.records:
        return ExitStatus.COULD_NOT_SAY
    return ExitStatus.FINE if reading.verdict in _FINE else ExitStatus.SOME_FAILED


def _opened(file: Path) -> AbstractContextManager[BufferedReader]:
    if str(file) == "-":
        return nullcontext(BufferedReader(cast(RawIOBase, sys.stdin.buffer)))
    return file.open("rb")


def _refuse_binary(file: Path, log: BufferedReader) -> None:
    """Raises UsageError. A block of NULs stays in a log that was cut while it was written to."""
    head = log.peek(_PEEKED_BYTES)[:_PEEKED_BYTES]
    packed = next((name for name, magic in _PACKED.items() if head.startswith(magic)), None)
    if packed is not None:
        raise UsageError(
            f"{file} is packed by {packed}: unpack it, for example "
            f"{packed} -dc {shlex.quote(str(file))} | decisive logs -"
        )
    if _is_utf16(head):
        raise UsageError(
            f"{file} is in UTF-16, as PowerShell writes: convert it, for example "
            f"iconv -f UTF-16 -t UTF-8 {shlex.quote(str(file))} | decisive logs -"
        )
    strange = len(head.translate(None, delete=_OF_TEXT))
    if strange > len(head) * _MOST_STRANGE:
        raise UsageError(f"{file} is no log but a binary file")


def _is_utf16(head: bytes) -> bool:
    """By its mark, or by letters between NULs; a block of NULs has them side by side."""
    if head.startswith(_UTF16_MARKS):
        return True
    pairs = list(zip(head[::2], head[1::2], strict=False))
    of_letters = sum(1 for one, other in pairs if bool(one) != bool(other))
    return len(pairs) > 1 and of_letters > len(pairs) * _LETTERS_BETWEEN_NULS


def _own_ends(named: list[str], *, year: int) -> OwnEnds | None:
    """RID or RID=TIME, the time as the log writes it. Raises UsageError."""
    ends: dict[str, float | None] = {}
    for each in named:
        rid, equals, when = each.partition("=")
        at_s = seconds_of(when, year=year) if equals else None
        if not rid or (equals and at_s is None):
            raise UsageError(
                f"--ended {each!r} is no RID or RID=TIME such as b7=2026-04-11 10:00:04"
            )
        ends[rid] = at_s
    return OwnEnds(ends) if ends else None


def _say(reading: LogReading) -> None:
    if reading.findings:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in _COLUMNS:
            table.add_column(name, overflow="fold")
        for finding in reading.findings:
            table.add_row(*(escape(one_line(cell)) for cell in _cells(finding)))
        result_console().print(table)
        for finding in reading.findings:
            say(f"{finding.kind}: {finding.means}")
    meaning = "" if reading.records else ": this says nothing of the server"
    say(f"{_verdict(reading).upper()}  ({reading.lines:,} lines){meaning}")


def _cells(finding: LogFinding) -> tuple[str, ...]:
    details = [
        f"{name}={value}" for name, value in finding.fields.items() if name not in ("where", "rid")
    ]
    return (
        str(finding.event_class),
        " ".join([finding.kind, *details]),
        str(finding.count),
        str(finding.lines),
        str(len(finding.requests) or ""),
        " ".join(finding.ranks[:6]) or str(finding.fields.get("where", "")),
        _time(finding.first_s),
        _time(finding.last_s),
        str(finding.first_number),
    )


def _time(at_s: float | None) -> str:
    if at_s is None:
        return ""
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%m-%d %H:%M:%S")
