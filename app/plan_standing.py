"""What queueing a plan would do to the store: all of it, what is missing, or nothing; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.wording import counted_noun
from db.identifiers import IdKind, format_id
from db.reads.campaigns import VerdictFacts
from db.reads.runs import RunCounts
from db.vocabulary import Headline, RunState
from runner.campaign.plan import Plan


@dataclass(frozen=True, slots=True)
class PlanStanding:
    """`campaign_id` None: it would be a new campaign. `blocks_before`: of the stored one so far."""

    campaign_id: int | None
    runs: int
    runs_missing: int
    sessions_missing: int
    blocks_before: int | None
    failed: int = 0

    @property
    def runs_nothing(self) -> bool:
        return self.runs_missing == 0

    @property
    def share_missing(self) -> float:
        return self.runs_missing / self.runs if self.runs else 0.0

    @property
    def sentence(self) -> str:
        if self.campaign_id is None:
            return "A new campaign."
        name = format_id(IdKind.CAMPAIGN, self.campaign_id)
        if self.runs_nothing:
            return (
                f"{name} has done all {counted_noun(self.runs, 'run')} of this plan: queueing it "
                "runs nothing. Choose more blocks to extend it."
            )
        done = self.runs - self.runs_missing
        again = f", {self.failed} of them again" if self.failed else ""
        return (
            f"Goes on with {name}: {done} of {counted_noun(self.runs, 'run')} are done, "
            f"{counted_noun(self.runs_missing, 'run')} to do{again}."
        )

    def extends(self, blocks: int) -> bool:
        return self.blocks_before is not None and blocks > self.blocks_before


def standing_of(plan: Plan, campaign_id: int | None, stored: Sequence[RunCounts]) -> PlanStanding:
    done = {run.run_key for run in stored if run.run_state is RunState.DONE}
    tried = {run.run_key for run in stored if run.run_state.is_terminal} - done
    missing = [run for run in plan.runs if run.run_key not in done]
    return PlanStanding(
        campaign_id=campaign_id,
        runs=len(plan.runs),
        runs_missing=len(missing),
        sessions_missing=sum(run.arm.sessions for run in missing),
        blocks_before=max((run.block for run in stored), default=None),
        failed=sum(run.run_key in tried for run in missing),
    )


def why_nothing_is_open(verdicts: Sequence[VerdictFacts]) -> str | None:
    """Why further runs have nothing to decide; None where a hypothesis is open, or none stored."""
    if not verdicts:
        return None
    registered = [each for each in verdicts if each.is_registered]
    if not registered:
        return "No hypothesis was registered before the first run, so that none can be decided"
    if any(each.headline in (None, Headline.INCONCLUSIVE) for each in registered):
        return None
    return "Every registered hypothesis is decided"
