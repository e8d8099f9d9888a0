"""The runs of one arm as a verdict reads them: which count, which are missing, what was seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from db.vocabulary import RunState
from runner.evidence.counts import SessionCounts, pooled


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One attempt at one run. `wedges` is None where no rule looked for them.

    `label` names the run to readers, `reason` says why it is stopped, failed or invalid.
    """

    label: str
    block: int
    state: RunState
    counts: SessionCounts
    wedges: int | None = None
    wedge_requests: int = 0
    wedge_lines: int = 0
    flags: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def is_left_out(self) -> bool:
        """Begun, ended, and without a say."""
        return self.state.is_terminal and self.state is not RunState.DONE


@dataclass(frozen=True, slots=True)
class ArmEvidence:
    """All attempts of an arm's runs, oldest first; `blocks` is how many runs were planned."""

    name: str
    runs: tuple[RunEvidence, ...]
    blocks: int

    @property
    def done(self) -> tuple[RunEvidence, ...]:
        """The runs whose sessions count. A stopped, failed or invalid run stands outside."""
        return tuple(run for run in self.runs if run.state is RunState.DONE)

    @property
    def witnessed(self) -> tuple[RunEvidence, ...]:
        """The runs that count, and those that were stopped.

        A stopped run has no rate; but corruption that somebody saw before stopping it was
        corruption, and running it again does not undo it.
        """
        seen = (RunState.DONE, RunState.STOPPED)
        return tuple(run for run in self.runs if run.state in seen)

    @property
    def counts(self) -> SessionCounts:
        return self._pooled(self.done)

    @property
    def witnessed_counts(self) -> SessionCounts:
        return self._pooled(self.witnessed)

    @property
    def missing(self) -> int:
        return max(0, self.blocks - len({run.block for run in self.done}))

    @property
    def left_out(self) -> tuple[RunEvidence, ...]:
        """The last attempt of each block that has no run which counts."""
        covered = {run.block for run in self.done}
        last = {run.block: run for run in self.runs if run.block not in covered}
        return tuple(last.values())

    @property
    def wedges(self) -> int | None:
        """The wedges seen, None where nobody looked in any run."""
        seen = [run.wedges for run in self.done if run.wedges is not None]
        return sum(seen) if seen else None

    @property
    def wedges_are_known(self) -> bool:
        """Whether somebody looked in every run that counts."""
        return bool(self.done) and all(run.wedges is not None for run in self.done)

    @property
    def wedge_requests(self) -> int:
        return sum(run.wedge_requests for run in self.done)

    @property
    def wedge_lines(self) -> int:
        return sum(run.wedge_lines for run in self.done)

    def _pooled(self, runs: Sequence[RunEvidence]) -> SessionCounts:
        each = [run.counts for run in runs]
        if not self.runs:
            return pooled(each)
        return pooled(each, corrupt=self.runs[0].counts.counts_as_corrupt)

    def flagged(self, flag: str) -> tuple[RunEvidence, ...]:
        return tuple(run for run in self.done if flag in run.flags)
