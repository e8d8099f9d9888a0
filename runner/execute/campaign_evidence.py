"""A stored campaign as evidence: its arms' runs, and how they were made. It decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from db.campaigns import find_campaign
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, arms
from db.reads.runs import RunCounts, run_proof, runs
from db.store import Store
from db.tables import CampaignRow
from db.vocabulary import RunState
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.counts import counted
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.run_cost import RunCost

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class CampaignEvidence:
    """All runs of a campaign; `unproven` names the factors of a run that nothing could prove."""

    campaign: CampaignRow
    arms: tuple[ArmFacts, ...]
    runs: tuple[RunCounts, ...]
    unproven: dict[int, tuple[str, ...]]

    def of_arm(self, arm_id: int) -> ArmEvidence:
        own = [run for run in self.runs if run.arm_id == arm_id]
        return ArmEvidence(
            name=self.arm(arm_id).name,
            runs=tuple(self._run_evidence(run) for run in own),
            blocks=len({run.block for run in own}),
        )

    def arm(self, arm_id: int) -> ArmFacts:
        return next(arm for arm in self.arms if arm.id == arm_id)

    def rule(self, *, p_max: float) -> DecisionRule:
        """The hypothesis was hashed with the campaign before its first run: it is registered."""
        return DecisionRule(p_max=p_max, ending=self.ending)

    @property
    def ending(self) -> Ending:
        return Ending(self.campaign.definition.get("stop", Ending.FIXED))

    def setting(self, arm_id: int, versus_id: int) -> ComparisonSetting:
        """How the two arms' runs were made."""
        own = [run for run in self.runs if run.arm_id in (arm_id, versus_id)]
        started = sorted(
            (run for run in own if run.started_at_us is not None),
            key=lambda run: run.started_at_us or 0,
        )
        return ComparisonSetting(
            scope=f"C={self.arm(arm_id).concurrency}, stack {self.campaign.stack}",
            launch_of={_label(run): f"launch {run.launch_id}" for run in own if run.launch_id},
            order=tuple(_label(run) for run in started),
            order_is_random=True,
            sessions_planned={_label(run): run.sessions_planned for run in own},
            unverified=self._unverified(own, arm_id, versus_id),
            ended_by_rule=self.ending is not Ending.FIXED,
            each_run=_cost_of(own),
        )

    def _unverified(self, own: Sequence[RunCounts], arm_id: int, versus_id: int) -> tuple[str, ...]:
        """The factors in which the arms differ and which nothing could prove in some run."""
        first, second = self.arm(arm_id).levels, self.arm(versus_id).levels
        differing = {factor for factor in first if first[factor] != second.get(factor)}
        unproven = {factor for run in own for factor in self.unproven.get(run.id, ())}
        return tuple(sorted(differing & unproven))

    def _run_evidence(self, run: RunCounts) -> RunEvidence:
        return RunEvidence(
            label=_label(run),
            block=run.block,
            state=run.run_state,
            counts=counted(run.counts, corrupt=self.campaign.corrupt_outcomes),
            wedges=run.wedges,
            wedge_requests=run.wedge_requests,
            wedge_lines=run.wedge_lines,
            flags=tuple(run.flags),
            reason=run.reason,
        )


def gather_evidence(store: Store, campaign_id: int) -> CampaignEvidence:
    """Raises RowMissingError."""
    campaign = find_campaign(store, campaign_id).campaign
    with store.session() as session:
        connection = session.connection()
        stored = runs(connection, [campaign_id])
        proofs = {run.id: run_proof(connection, run.id) for run in stored}
        return CampaignEvidence(
            campaign=campaign,
            arms=tuple(arms(connection, [campaign_id])),
            runs=tuple(stored),
            unproven={
                run_id: _unproven(proof.verification)
                for run_id, proof in proofs.items()
                if proof is not None
            },
        )


def _unproven(verification: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(check["factor"] for check in verification if check.get("holds") is None)


def _label(run: RunCounts) -> str:
    return format_id(IdKind.RUN, run.id)


def _cost_of(own: Sequence[RunCounts]) -> RunCost | None:
    """What a run of these arms took so far, servers and all; GPUs are not known here."""
    done = [run for run in own if run.state == RunState.DONE and run.wall_s is not None]
    launches_s = [
        (run.driving_at_us - run.started_at_us) / _SECOND_US
        for run in done
        if run.driving_at_us is not None and run.started_at_us is not None
    ]
    if not done or not launches_s:
        return None
    return RunCost(
        launch_s=fmean(launches_s), drive_s=fmean(run.wall_s or 0.0 for run in done), gpus=0
    )
