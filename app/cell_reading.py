"""One cell of the matrix: the runs of one arm, summed up; knows neither the store nor the page.

Only runs that are done count; the others are kept apart, each with its reason.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.wording import counted_noun
from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts
from db.vocabulary import Outcome, RunFlag, RunState
from runner.evidence.counts import SessionCounts, counted

ENOUGH_SESSIONS = 59
"""So many clean sessions show, at 95 %, that a rate of 5 % would have been seen."""


@dataclass(frozen=True, slots=True)
class CellReading:
    """`done` counts; `left_out` ended otherwise; `waiting` runs were not started."""

    arm: ArmFacts
    counts: SessionCounts
    done: tuple[RunCounts, ...]
    active: RunCounts | None
    left_out: tuple[RunCounts, ...]
    waiting: int

    @property
    def has_evidence(self) -> bool:
        return self.counts.all > 0

    @property
    def has_too_few(self) -> bool:
        return self.counts.gave_evidence < ENOUGH_SESSIONS

    @property
    def rate(self) -> float:
        """Corrupt among all sessions: what is certain whatever the silent ones would have shown."""
        rate = self.counts.corrupt_of_all
        return 0.0 if rate is None else rate.value

    @property
    def high_limit(self) -> float:
        """The upper 95 % limit if every silent session had been corrupt."""
        bounds = self.counts.bounds
        return 1.0 if bounds is None else bounds.wilson().high

    @property
    def silent_share(self) -> float:
        rate = self.counts.silent_of_all
        return 0.0 if rate is None else rate.value

    @property
    def is_not_exercised(self) -> bool:
        """Whether some finished run never used the path that a factor of it is about."""
        return any(RunFlag.NOT_EXERCISED in run.flags for run in self.done)

    @property
    def wedge_requests(self) -> int:
        return sum(run.wedge_requests for run in self.done)

    @property
    def wedge_lines(self) -> int:
        return sum(run.wedge_lines for run in self.done)

    @property
    def is_wedged(self) -> bool:
        return any(run.wedges or run.wedge_requests for run in self.done)


def counts_of(run: RunCounts, corrupt_outcomes: Sequence[str]) -> SessionCounts:
    """The counters of one run, read by the campaign's own list of what is corrupt."""
    return counted(run.counts, corrupt=corrupt_outcomes)


def pooled_counts(runs: Iterable[RunCounts], corrupt_outcomes: Sequence[str]) -> SessionCounts:
    """The sum over runs; added up first, for a cell may have hundreds of them."""
    numbers = [run.numbers for run in runs] or [(0,) * len(Outcome)]
    totals = map(sum, zip(*numbers, strict=True))
    return counted(dict(zip(Outcome, totals, strict=True)), corrupt=corrupt_outcomes)


def read_cells(
    arms: Sequence[ArmFacts], runs: Sequence[RunCounts], corrupt_outcomes: Sequence[str]
) -> list[CellReading]:
    """One reading an arm, in the order of the arms."""
    by_arm: dict[int, list[RunCounts]] = {arm.id: [] for arm in arms}
    for run in runs:
        by_arm.setdefault(run.arm_id, []).append(run)
    return [_read_cell(arm, by_arm[arm.id], corrupt_outcomes) for arm in arms]


def _read_cell(
    arm: ArmFacts, runs: Sequence[RunCounts], corrupt_outcomes: Sequence[str]
) -> CellReading:
    by_state: dict[RunState, list[RunCounts]] = {}
    for run in runs:
        by_state.setdefault(run.run_state, []).append(run)
    done = tuple(by_state.pop(RunState.DONE, ()))
    waiting = len(by_state.pop(RunState.PLANNED, ()))
    others = [run for run in runs if run.run_state in by_state] if by_state else []
    active = [run for run in others if run.run_state.is_active]
    return CellReading(
        arm=arm,
        counts=pooled_counts(done, corrupt_outcomes),
        done=done,
        active=active[-1] if active else None,
        left_out=tuple(run for run in others if run.run_state.is_terminal),
        waiting=waiting,
    )


def worst_cell(cells: Iterable[CellReading]) -> CellReading | None:
    """The cell with the highest corrupt rate among those with finished runs; of equals, more n."""
    measured = [cell for cell in cells if cell.has_evidence]
    return max(measured, key=lambda cell: (cell.rate, cell.counts.all), default=None)


def left_out_words(runs: Iterable[RunCounts]) -> str:
    """`1 run invalid, 2 runs stopped`; "" where every run that ended counts."""
    numbers = Counter(run.state for run in runs)
    return ", ".join(
        f"{counted_noun(numbers[state], 'run')} {state}"
        for state in RunState
        if numbers[state] and state.is_terminal and state is not RunState.DONE
    )
