"""Shows a campaign while it runs: bars on a terminal, plain lines elsewhere."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from db.tables.runs import RunRow
from db.vocabulary import OutcomeClass, RunState
from runner.cli.console import progress_console, tell
from runner.evidence.number_words import counted_text
from runner.execute.progress import ProgressListener, RunOfCampaign
from runner.sessions.played_session import PlayedSession


class PlainProgress:
    """A line a run and its five lines; nothing that a log file would not want."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self._print = print_line

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        done = total - missing
        said = f"{missing} of {total} runs to do" + (f", {done} done before" if done else "")
        tell(f"campaign c-{campaign_id} {name}: {said}")

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        if state is RunState.APPLYING:
            self._print(f"{_title(run)}: {counted_text(run.arm.sessions, 'session')}")

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        return

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        for line in lines:
            self._print(line)
        self._print(f"{_title(run)}: {_end(row)}")

    def note(self, text: str) -> None:
        tell(text)


class BarProgress:
    """The same lines, above bars for the runs of the campaign and the sessions of the run."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[seen]}"),
            console=console,
            transient=True,
        )
        self._runs = self._bars.add_task("runs", total=None, seen="")
        self._sessions = self._bars.add_task("sessions", total=None, seen="")
        self._corrupt = 0
        self._silent = 0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        self._bars.update(self._runs, total=total, completed=total - missing)
        self._bars.print(f"campaign c-{campaign_id} [bold]{name}[/bold]", highlight=False)

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        self._bars.update(self._runs, seen=f"{run.arm.name}, block {run.block}: {state}")
        if state is RunState.APPLYING:
            self._corrupt = self._silent = 0
            self._bars.update(self._sessions, total=run.arm.sessions, completed=0, seen="")

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        outcome_class = played.judgement.outcome.outcome_class
        self._corrupt += outcome_class is OutcomeClass.CORRUPT
        self._silent += outcome_class is OutcomeClass.SILENT
        seen = f"corrupt {self._corrupt}, silent {self._silent}"
        self._bars.update(self._sessions, advance=1, seen=seen)

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        self._bars.advance(self._runs)
        self._bars.print(f"[bold]{_title(run)}[/bold]: {_end(row)}", highlight=False)
        for line in lines:
            self._bars.print(f"  {line}", markup=False, highlight=False)

    def note(self, text: str) -> None:
        self._bars.print(text, markup=False, highlight=False)


def plain_progress(print_line: Callable[[str], None]) -> ProgressListener:
    return PlainProgress(print_line)


def bar_progress() -> BarProgress:
    return BarProgress(progress_console())


def _title(run: RunOfCampaign) -> str:
    return f"r-{run.run_id} ({run.number} of {run.of}) {run.arm.name}, block {run.block}"


def _end(row: RunRow) -> str:
    flags = f" [{', '.join(row.flags)}]" if row.flags else ""
    return f"{row.state}{flags}" + (f": {row.reason}" if row.reason else "")
