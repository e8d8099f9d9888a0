"""All that a report is made of; the same record gives the same bytes. Nothing is read here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.reads.campaigns import ArmFacts, CampaignFacts
from db.reads.observations import LogEventFacts
from db.reads.runs import RunCounts, RunProof
from db.reads.sessions import SessionFacts, TurnFacts, TwinFacts
from db.vocabulary import RunState
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.execute.stored_failures import Failures
from runner.report.arm_result import ArmResult, arm_results


@dataclass(frozen=True, slots=True)
class ReportedVerdict:
    """`hypothesis_id` is None for a comparison that nobody wrote down as a hypothesis."""

    hypothesis_id: int | None
    slug: str
    claim: str
    arm_name: str
    versus_name: str
    predict: str
    verdict: CampaignVerdict


@dataclass(frozen=True, slots=True)
class ReportedSession:
    """A failing session as an example; `text` is what the server sent in its decisive turn."""

    session_id: int
    run_id: int
    arm_name: str
    outcome: str
    detail: str
    text: str


@dataclass(frozen=True, slots=True)
class ReportedLaunch:
    """One start of the servers. `facts`: what each service said of itself."""

    launch_id: int
    arm_ids: tuple[int, ...]
    commands: Mapping[str, Any]
    facts: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRecord:
    """`source_text` is None where prompts are to be hidden and it is not known which they are."""

    campaign: CampaignFacts
    source_text: str | None
    arms: Sequence[ArmFacts]
    runs: Sequence[RunCounts]
    verdicts: Sequence[ReportedVerdict]
    examples: Sequence[ReportedSession]
    attribution: Sequence[str] = ()
    silence: Sequence[str] = ()
    launches: Sequence[ReportedLaunch] = ()
    failures: Failures | None = None
    hides_prompts: bool = False

    @property
    def results(self) -> tuple[ArmResult, ...]:
        return arm_results(self.arms, self.runs, self.campaign.corrupt_outcomes)

    @property
    def runs_planned(self) -> int:
        """By key: a run that is attempted again counts once."""
        return len({run.run_key for run in self.runs})

    @property
    def runs_done(self) -> int:
        return len({run.run_key for run in self.runs if run.state == RunState.DONE})

    @property
    def stood_at_us(self) -> int:
        """When the newest thing happened that the report knows of."""
        moments = [run.last_moved_at_us for run in self.runs]
        return max([self.campaign.created_at_us, *moments])


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRecord:
    """One arm of `whole`, with what was proven in each of its runs."""

    whole: CampaignRecord
    arm: ArmFacts
    proofs: Sequence[RunProof]
    silent: Sequence[str]
    examples: Sequence[ReportedSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord:
    """Two arms of `whole`. `undeclared`: in what their servers differ that no level declares."""

    whole: CampaignRecord
    arm: ArmFacts
    versus: ArmFacts
    verdict: ReportedVerdict
    undeclared: Sequence[str]
    examples: Sequence[ReportedSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """One session of a run, turn by turn. `log`: what the services wrote that means something."""

    campaign: CampaignFacts
    arm: ArmFacts
    run: RunCounts
    session: SessionFacts
    turns: Sequence[TurnFacts]
    twins: Sequence[TwinFacts]
    log: Sequence[LogEventFacts]
    hides_prompts: bool = False
