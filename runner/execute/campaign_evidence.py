"""A stored campaign as evidence: its arms' runs, and how they were made. It decides nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from db.campaigns import find_campaign
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, VerdictFacts, arms, earlier_of_name, verdicts
from db.reads.runs import RunCounts, launch_reports, run_proof, runs
from db.store import Store
from db.tables.campaigns import CampaignRow
from db.tables.columns import Json
from db.vocabulary import ClaimKind, RunState
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.background_rate import BackgroundRate, background_of, background_sentence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.counts import counted
from runner.evidence.decision_rule import ELIMINATION_ALTERNATIVES, DecisionRule, Ending
from runner.evidence.fingerprint_differences import Launch
from runner.evidence.number_words import counted_text
from runner.evidence.run_block_process import DEFAULT_ALTERNATIVES
from runner.evidence.run_cost import RunCost
from runner.evidence.run_rate_test import Cluster
from runner.evidence.server_starts import ServerStart
from runner.evidence.session_correlation import FLOOR_OF_REPEATED_RUNS
from runner.evidence.verdict_validity import invalidities, launches_of
from runner.execute.external_starts import external_starts
from runner.execute.launch_differences import (
    LaunchDifferences,
    are_endpoints,
    declared_between,
    implied_between,
    launch_differences,
)

LEAST_BACKGROUND_SESSIONS = 59
"""As many as exclude a rate of 5 % where none is corrupt: fewer vouch for no background."""

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class CampaignEvidence:
    """All runs of a campaign; `unproven` names the factors of a run that nothing could prove,
    `reports` what the services of each launch said of themselves, `earlier` the campaigns of the
    same name that had begun before, `starts` to which start each launch of servers belongs that
    others run.
    """

    campaign: CampaignRow
    arms: tuple[ArmFacts, ...]
    hypotheses: tuple[VerdictFacts, ...]
    runs: tuple[RunCounts, ...]
    unproven: dict[int, tuple[str, ...]]
    reports: dict[int, dict[str, Json]]
    earlier: tuple[str, ...] = ()
    starts: Mapping[int, ServerStart] = field(default_factory=dict)

    def of_arm(self, arm_id: int) -> ArmEvidence:
        own = [run for run in self.runs if run.arm_id == arm_id]
        return ArmEvidence(
            name=self.arm(arm_id).name,
            runs=tuple(self._run_evidence(run) for run in own),
            blocks=len({run.block for run in own}),
        )

    def arm(self, arm_id: int) -> ArmFacts:
        return next(arm for arm in self.arms if arm.id == arm_id)

    def rule(self, hypothesis: VerdictFacts) -> DecisionRule:
        """As it was registered. A later hypothesis shares its risk with all, not only with those
        that were registered.
        """
        goal = ClaimKind(hypothesis.goal)
        return DecisionRule(
            p_max=hypothesis.tolerate,
            claim=goal,
            ending=self.ending,
            is_registered=hypothesis.is_registered,
            predicted_rate=hypothesis.predicted_rate,
            background=self.background_rate(hypothesis),
            alternatives=(
                DEFAULT_ALTERNATIVES if goal is ClaimKind.REDUCE else ELIMINATION_ALTERNATIVES
            ),
            hypotheses=sum(
                each.is_registered or not hypothesis.is_registered for each in self.hypotheses
            ),
        )

    def background_rate(self, hypothesis: VerdictFacts) -> float:
        """Of the known-good arm; 0 without one, and while its runs cannot vouch for a rate."""
        background = self.background(hypothesis)
        return background.rate if isinstance(background, BackgroundRate) else 0.0

    def background(self, hypothesis: VerdictFacts) -> BackgroundRate | str | None:
        """Why there is none, where its arm cannot give one."""
        arm_id = hypothesis.known_good_arm_id
        if arm_id is None:
            return None
        known_good = self.of_arm(arm_id)
        setting = self.setting(arm_id, arm_id)
        doubts = [doubt.text for doubt in invalidities(known_good, known_good, setting=setting)]
        if doubts:
            return doubts[0]
        launches = launches_of(known_good, setting=setting)
        clusters = [Cluster(each.corrupt, each.evidence) for each in launches if each.evidence]
        sessions = sum(each.n for each in clusters)
        if sessions < LEAST_BACKGROUND_SESSIONS:
            return f"{counted_text(sessions, 'session')} of {known_good.name} gave evidence"
        return background_of(clusters, rho=FLOOR_OF_REPEATED_RUNS)

    @property
    def ending(self) -> Ending:
        return Ending(self.campaign.definition.get("stop", Ending.FIXED))

    def setting_of(self, hypothesis: VerdictFacts) -> ComparisonSetting:
        """How the runs of its two arms were made, and against which background it is judged."""
        background, arm_id = self.background(hypothesis), hypothesis.known_good_arm_id
        setting = self.setting(hypothesis.arm_id, hypothesis.versus_arm_id)
        if background is None or arm_id is None:
            return setting
        return replace(setting, background=background_sentence(self.arm(arm_id).name, background))

    def setting(self, arm_id: int, versus_id: int) -> ComparisonSetting:
        """How the two arms' runs were made."""
        own = [run for run in self.runs if run.arm_id in (arm_id, versus_id)]
        differences = self.differences(arm_id, versus_id)
        started = sorted((run for run in own if run.started_at_us is not None), key=_place_in_time)
        return ComparisonSetting(
            scope=f"C={self.arm(arm_id).concurrency}, stack {self.campaign.stack}",
            launch_of={
                _label(run): f"launch {start.launch_id}" for run, start in self._starts_of(own)
            },
            perhaps_one_start={
                _label(run): f"launch {start.perhaps_since}" for run, start in self._starts_of(own)
            },
            order=tuple(_label(run) for run in started),
            order_is_random=True,
            earlier_campaigns=self.earlier,
            sessions_planned={_label(run): run.sessions_planned for run in own},
            unverified=self._unverified(own, arm_id, versus_id),
            undeclared_differences=differences.undeclared,
            implied_differences=differences.implied,
            ended_by_rule=self.ending is not Ending.FIXED,
            each_run=_cost_of(own),
            planned_blocks=_planned_blocks(self.campaign, self.runs),
        )

    def _starts_of(self, own: Sequence[RunCounts]) -> Iterator[tuple[RunCounts, ServerStart]]:
        for run in own:
            if run.launch_id:
                own_start = ServerStart(run.launch_id, run.launch_id)
                yield run, self.starts.get(run.launch_id, own_start)

    def _unverified(self, own: Sequence[RunCounts], arm_id: int, versus_id: int) -> tuple[str, ...]:
        """The factors in which the arms differ and which nothing could prove in some run."""
        first, second = self.arm(arm_id).levels, self.arm(versus_id).levels
        differing = {factor for factor in first if first[factor] != second.get(factor)}
        unproven = {factor for run in own for factor in self.unproven.get(run.id, ())}
        return tuple(sorted(differing & unproven))

    def differences(self, arm_id: int, versus_id: int) -> LaunchDifferences:
        """In what the launches of two arms differ, by what they said of themselves."""
        first, second = self.arm(arm_id), self.arm(versus_id)
        definition = self.campaign.definition
        if arm_id == versus_id or are_endpoints(definition, first, second):
            return LaunchDifferences()
        return launch_differences(
            self._launches_of(arm_id),
            self._launches_of(versus_id),
            declared=declared_between(definition, first, second),
            implied=implied_between(definition, first, second),
        )

    def _launches_of(self, arm_id: int) -> list[Launch]:
        """Of the runs that count; runs that share a launch have one."""
        launches = dict.fromkeys(
            run.launch_id
            for run in self.runs
            if run.arm_id == arm_id and run.run_state is RunState.DONE
        )
        return [self.reports[each] for each in launches if each in self.reports]

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
        unproven = {
            run_id: _unproven(proof.verification)
            for run_id, proof in proofs.items()
            if proof is not None
        }
        tried = tuple(arms(connection, [campaign_id]))
        return CampaignEvidence(
            campaign=campaign,
            arms=tried,
            hypotheses=tuple(verdicts(connection, [campaign_id])),
            runs=tuple(stored),
            unproven=unproven,
            earlier=tuple(
                format_id(IdKind.CAMPAIGN, each)
                for each in earlier_of_name(connection, campaign_id)
            ),
            reports=launch_reports(
                connection, sorted({run.launch_id for run in stored if run.launch_id})
            ),
            starts=external_starts(
                connection, campaign.definition, arms=tried, runs=stored, unproven=unproven
            ),
        )


def _unproven(verification: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(check["factor"] for check in verification if check.get("holds") is None)


def _planned_blocks(campaign: CampaignRow, stored: Sequence[RunCounts]) -> int | None:
    """How many were planned at first, where runs of later blocks exist now."""
    planned = (campaign.definition.get("schedule") or {}).get("blocks")
    if not isinstance(planned, int):
        return None
    return planned if any(run.block > planned for run in stored) else None


def _place_in_time(run: RunCounts) -> tuple[int, int]:
    """By the launch, since a clock may be set back between two of them."""
    return (run.launch_id or 0, run.started_at_us or 0)


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
