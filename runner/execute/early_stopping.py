"""Which arms of a campaign need no further run, by its `stop:` rule; starts and ends nothing."""

from db.reads.campaigns import VerdictFacts, verdicts
from db.store import Store
from runner.campaign.campaign import Arm, Campaign, StopRule
from runner.campaign.matrix import matches
from runner.evidence.campaign_verdict import Question, checked_criteria
from runner.evidence.criteria import CriterionState
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import StopAdvice, advice_between_runs, advice_within_run
from runner.evidence.verdict_validity import launches_of
from runner.execute.campaign_evidence import CampaignEvidence, gather_evidence
from runner.execute.verdicts import question_of


def may_end_at_first_corrupt(campaign: Campaign, arm: Arm) -> bool:
    """An arm that others are compared with plays all its sessions: its rate is what they need."""
    if campaign.stop is StopRule.FIXED:
        return False
    return not any(matches(arm.levels, each.versus) for each in campaign.hypotheses)


def settled_arm(store: Store, campaign_id: int, arm_position: int) -> StopAdvice | None:
    """Why the arm at this position needs no further run; None: it does.

    An arm of several hypotheses is settled when all are; so is one that others are compared with.
    None is settled before its first run, or nothing would be compared with anything.
    """
    evidence = gather_evidence(store, campaign_id)
    arm_id = next(arm.id for arm in evidence.arms if arm.position == arm_position)
    if not evidence.of_arm(arm_id).done:
        return None
    with store.session() as session:
        hypotheses = verdicts(session.connection(), [campaign_id])
    about = [each for each in hypotheses if arm_id in (each.arm_id, each.versus_arm_id)]
    advice = [_advice(each, evidence) for each in about]
    if not advice or any(each is None for each in advice):
        return None
    return advice[0]


def _advice(hypothesis: VerdictFacts, evidence: CampaignEvidence) -> StopAdvice | None:
    question = question_of(hypothesis, evidence)
    refuted = _refutation(question)
    if refuted is not None:
        return refuted
    return advice_between_runs(
        launches_of(question.arm, setting=question.setting),
        launches_of(question.versus, setting=question.setting),
        rule=question.rule,
        wedges=question.arm.wedges if question.arm.wedges_are_known else None,
    )


def _refutation(question: Question) -> StopAdvice | None:
    launches = launches_of(question.arm, setting=question.setting)
    if not launches:
        return None
    together = LaunchCounts(
        clean=sum(launch.clean for launch in launches),
        corrupt=sum(launch.corrupt for launch in launches),
        silent=sum(launch.silent for launch in launches),
    )
    criteria = checked_criteria(question)
    return advice_within_run(
        together,
        sessions_planned=sum(question.setting.sessions_planned.values()),
        criterion_failed=any(each.state is CriterionState.FAILED for each in criteria),
        rule=question.rule,
    )
