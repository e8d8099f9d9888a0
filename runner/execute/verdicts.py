"""Judges a campaign's hypotheses from its stored runs, and adds what has changed to the store."""

from dataclasses import dataclass

from db.campaigns import NewVerdict, record_verdict
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, VerdictFacts, arms, campaign, verdicts
from db.reads.runs import RunCounts, runs
from db.store import Store
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.counts import counted
from runner.evidence.verdict import Verdict, reach_verdict


@dataclass(frozen=True, slots=True)
class JudgedHypothesis:
    slug: str
    claim: str
    verdict: Verdict


def judge_hypotheses(store: Store, campaign_id: int) -> tuple[JudgedHypothesis, ...]:
    """The verdict on every hypothesis as the runs stand now; a changed one adds a row."""
    judged = reach_verdicts(store, campaign_id)
    with store.session() as session:
        ids = {
            facts.slug: facts.hypothesis_id
            for facts in verdicts(session.connection(), [campaign_id])
        }
    for each in judged:
        record_verdict(store, ids[each.slug], _new_verdict(each.verdict))
    return judged


def reach_verdicts(store: Store, campaign_id: int) -> tuple[JudgedHypothesis, ...]:
    """As `judge_hypotheses`, and stores nothing."""
    with store.session() as session:
        connection = session.connection()
        facts = campaign(connection, campaign_id)
        hypotheses = verdicts(connection, [campaign_id])
        arms_by_id = {arm.id: arm for arm in arms(connection, [campaign_id])}
        all_runs = runs(connection, [campaign_id])
    if facts is None:
        return ()
    evidence = {
        arm_id: _arm_evidence(arm, all_runs, tuple(facts.corrupt_outcomes))
        for arm_id, arm in arms_by_id.items()
    }
    return tuple(_judge(hypothesis, evidence) for hypothesis in hypotheses)


def _judge(hypothesis: VerdictFacts, evidence: dict[int, ArmEvidence]) -> JudgedHypothesis:
    verdict = reach_verdict(
        parse_prediction(hypothesis.predict),
        arm=evidence[hypothesis.arm_id],
        versus=evidence[hypothesis.versus_arm_id],
        tolerate=hypothesis.tolerate,
    )
    return JudgedHypothesis(hypothesis.slug, hypothesis.claim, verdict)


def _arm_evidence(
    arm: ArmFacts, all_runs: list[RunCounts], corrupt: tuple[str, ...]
) -> ArmEvidence:
    own = [run for run in all_runs if run.arm_id == arm.id]
    return ArmEvidence(
        name=arm.name,
        runs=tuple(_run_evidence(run, corrupt) for run in own),
        blocks=len({run.block for run in own}),
    )


def _run_evidence(run: RunCounts, corrupt: tuple[str, ...]) -> RunEvidence:
    return RunEvidence(
        label=format_id(IdKind.RUN, run.id),
        block=run.block,
        state=run.run_state,
        counts=counted(run.counts, corrupt=corrupt),
        wedges=run.wedges,
        wedge_requests=run.wedge_requests,
        wedge_lines=run.wedge_lines,
        flags=tuple(run.flags),
        reason=run.reason,
    )


def _new_verdict(verdict: Verdict) -> NewVerdict:
    return NewVerdict(
        headline=verdict.headline,
        elimination=verdict.elimination,
        direction=verdict.direction,
        availability=verdict.availability,
        sentence=verdict.sentence,
        reasons=[reason.text for reason in verdict.reasons],
        inputs=verdict.inputs,
        method=verdict.method,
    )
