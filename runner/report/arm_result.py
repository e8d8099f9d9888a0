"""One arm with the runs of it, summed up for a report; only runs that are done count."""

from collections.abc import Sequence
from dataclasses import dataclass

from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts
from db.vocabulary import Outcome, OutcomeClass, RunState
from runner.evidence.counts import SessionCounts, counted, pooled


@dataclass(frozen=True, slots=True)
class ArmResult:
    """`runs`: every attempt of it; `corrupt`: the outcomes that count as corrupt."""

    arm: ArmFacts
    runs: tuple[RunCounts, ...]
    corrupt: tuple[str, ...]

    @property
    def name(self) -> str:
        """With its tag, and whether it is the baseline."""
        tagged = f"{self.arm.name} [{self.arm.tag}]" if self.arm.tag else self.arm.name
        return f"{tagged} (baseline)" if self.arm.is_baseline else tagged

    @property
    def done(self) -> tuple[RunCounts, ...]:
        return tuple(run for run in self.runs if run.run_state is RunState.DONE)

    @property
    def counts(self) -> SessionCounts:
        each = (counted(run.counts, corrupt=self.corrupt) for run in self.done)
        return pooled(each, corrupt=self.corrupt)

    @property
    def rates_of_runs(self) -> tuple[float, ...]:
        """Corrupt of all sessions, run by run; a run without sessions has none."""
        each = [counted(run.counts, corrupt=self.corrupt).corrupt_of_all for run in self.done]
        return tuple(rate.value for rate in each if rate is not None)

    @property
    def by_class(self) -> tuple[tuple[OutcomeClass, int], ...]:
        """Sessions of each class in the order in which they are drawn, as this campaign counts."""
        counts = self.counts
        return (
            (OutcomeClass.CLEAN, counts.not_corrupt),
            (OutcomeClass.CORRUPT, counts.corrupt),
            (OutcomeClass.SILENT, counts.silent),
            (OutcomeClass.OURS, counts.harness_errors),
        )

    @property
    def wedges(self) -> int | None:
        """Spans in which nothing moved; None where they were not watched for in some run."""
        known = [run.wedges for run in self.done]
        return None if None in known else sum(number or 0 for number in known)

    @property
    def wedge_requests(self) -> int | None:
        """None where the file of an imported run does not tell."""
        known = [run.told_wedge_requests for run in self.done]
        return None if None in known else sum(number or 0 for number in known)


def arm_results(
    arms: Sequence[ArmFacts], runs: Sequence[RunCounts], corrupt: Sequence[str]
) -> tuple[ArmResult, ...]:
    """In the order of the arms."""
    by_arm: dict[int, list[RunCounts]] = {arm.id: [] for arm in arms}
    for run in runs:
        by_arm.get(run.arm_id, []).append(run)
    return tuple(ArmResult(arm, tuple(by_arm[arm.id]), tuple(corrupt)) for arm in arms)


def class_in_campaign(outcome: str, corrupt: Sequence[str]) -> OutcomeClass:
    """An outcome that the campaign does not count as corrupt is evidence of no corruption."""
    known = Outcome(outcome).outcome_class
    if known is OutcomeClass.CORRUPT and outcome not in corrupt:
        return OutcomeClass.CLEAN
    return known
