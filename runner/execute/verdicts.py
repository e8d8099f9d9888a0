"""Judges a campaign's hypotheses from its stored runs, and adds what has changed to the store."""

from dataclasses import dataclass

from db.campaigns import NewVerdict, record_verdict
from db.reads.campaigns import VerdictFacts
from db.store import Store
from runner.campaign.prediction import parse_prediction
from runner.evidence.campaign_verdict import CampaignVerdict, Question, judge_campaign
from runner.evidence.verdict_text import verdict_lines
from runner.execute.campaign_evidence import CampaignEvidence, gather_evidence


@dataclass(frozen=True, slots=True)
class JudgedHypothesis:
    hypothesis_id: int
    slug: str
    claim: str
    verdict: CampaignVerdict


def judge_hypotheses(
    store: Store, campaign_id: int, *, about_arm: int | None = None
) -> tuple[JudgedHypothesis, ...]:
    """The verdict on every hypothesis as the runs stand now; a changed one adds a row.

    `about_arm`: only those on hypotheses that this arm's row takes part in are stored.
    """
    evidence = gather_evidence(store, campaign_id)
    judged = _judged(evidence)
    taking_part = {
        facts.hypothesis_id
        for facts in evidence.hypotheses
        if about_arm is None or about_arm in (facts.arm_id, facts.versus_arm_id)
    }
    for each in judged:
        if each.hypothesis_id in taking_part:
            record_verdict(store, each.hypothesis_id, _new_verdict(each.verdict))
    return judged


def reach_verdicts(store: Store, campaign_id: int) -> tuple[JudgedHypothesis, ...]:
    """As `judge_hypotheses`, and stores nothing."""
    return _judged(gather_evidence(store, campaign_id))


def question_of(hypothesis: VerdictFacts, evidence: CampaignEvidence) -> Question:
    return Question(
        prediction=parse_prediction(hypothesis.predict),
        arm=evidence.of_arm(hypothesis.arm_id),
        versus=evidence.of_arm(hypothesis.versus_arm_id),
        rule=evidence.rule(hypothesis),
        setting=evidence.setting_of(hypothesis),
    )


def _judged(evidence: CampaignEvidence) -> tuple[JudgedHypothesis, ...]:
    hypotheses = {facts.slug: facts for facts in evidence.hypotheses}
    questions = {slug: question_of(facts, evidence) for slug, facts in hypotheses.items()}
    return tuple(
        JudgedHypothesis(hypotheses[slug].hypothesis_id, slug, hypotheses[slug].claim, verdict)
        for slug, verdict in judge_campaign(questions).items()
    )


def _new_verdict(verdict: CampaignVerdict) -> NewVerdict:
    return NewVerdict(
        headline=verdict.headline,
        elimination=verdict.elimination,
        direction=verdict.direction,
        availability=verdict.availability,
        sentence=verdict.sentence,
        reasons=[reason.text for reason in verdict.reasons],
        inputs={**verdict.inputs, "said": list(verdict_lines(verdict))},
        method=verdict.method,
    )
