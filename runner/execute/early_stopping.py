"""Which arms of a campaign need no further run, by its `stop:` rule; starts and ends nothing."""

from db.reads.campaigns import VerdictFacts
from db.store import Store
from runner.campaign.campaign import Arm, Campaign
from runner.campaign.matrix import matches
from runner.evidence.criteria import CriterionState
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.question import Question, checked_criteria
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import (
    StopAdvice,
    advice_at_look,
    advice_between_runs,
    advice_for_versus,
    advice_within_run,
    ends_at_first_corrupt,
)
from runner.evidence.verdict_validity import launches_of
from runner.execute.campaign_evidence import CampaignEvidence, gather_evidence
from runner.execute.verdicts import question_of


def may_end_at_first_corrupt(campaign: Campaign, arm: Arm) -> bool:
    """Whether a single corrupt session answers all that is asked of the arm.

    An arm that others are compared with plays all its sessions, and so does the known-good one:
    their rates are what others need.
    """
    ending = Ending(campaign.stop)
    is_yardstick = campaign.known_good is not None and matches(arm.levels, campaign.known_good)
    is_compared = any(matches(arm.levels, each.versus) for each in campaign.hypotheses)
    if not ending.cuts_runs or is_yardstick or is_compared:
        return False
    asked = [each for each in campaign.hypotheses if matches(arm.levels, each.arm)]
    if asked and campaign.known_good is not None:
        return False
    return all(
        ends_at_first_corrupt(each.predict, DecisionRule(ending=ending, claim=each.goal))
        for each in asked
    )


def settled_arm(store: Store, campaign_id: int, arm_position: int) -> StopAdvice | None:
    """Why the arm at this position needs no further run; None: it does.

    An arm of several hypotheses is settled when all are. One that others are compared with is
    settled for a hypothesis when that is answered, or when it is shown that corruption is lower
    than there. None is settled before its first run, or nothing would be compared with anything,
    nor is the known-good arm, whose rate every hypothesis needs.
    """
    evidence = gather_evidence(store, campaign_id)
    arm_id = next(arm.id for arm in evidence.arms if arm.position == arm_position)
    if evidence.ending in (Ending.FIXED, Ending.FIRST_CORRUPT) or not evidence.of_arm(arm_id).done:
        return None
    if any(each.known_good_arm_id == arm_id for each in evidence.hypotheses):
        return None
    about = [each for each in evidence.hypotheses if arm_id in (each.arm_id, each.versus_arm_id)]
    advice = [_advice(each, evidence, arm_id=arm_id) for each in about]
    if not advice or any(each is None for each in advice):
        return None
    return advice[0]


def _advice(
    hypothesis: VerdictFacts, evidence: CampaignEvidence, *, arm_id: int
) -> StopAdvice | None:
    question = question_of(hypothesis, evidence)
    answered = _answer(question)
    if answered is not None or arm_id != hypothesis.versus_arm_id:
        return answered
    return advice_for_versus(*_launches(question), rule=question.rule)


def _answer(question: Question) -> StopAdvice | None:
    """Why neither arm needs a further run for this hypothesis."""
    after, before = _launches(question)
    failed = any(each.state is CriterionState.FAILED for each in checked_criteria(question))
    wedges = question.arm.wedges if question.arm.wedges_are_known else None
    if question.rule.ending is Ending.TWO_LOOKS:
        return advice_at_look(
            after, before, rule=question.rule, wedges=wedges, criterion_failed=failed
        )
    if failed:
        return _refutation(question, after)
    return advice_between_runs(after, before, rule=question.rule, wedges=wedges)


def _refutation(question: Question, after: tuple[LaunchCounts, ...]) -> StopAdvice | None:
    """The prediction has failed for good; its runs so far are taken together."""
    planned = question.setting.sessions_planned
    return advice_within_run(
        LaunchCounts(
            clean=sum(launch.clean for launch in after),
            corrupt=sum(launch.corrupt for launch in after),
            silent=sum(launch.silent for launch in after),
        ),
        sessions_planned=sum(planned.get(run.label, 0) for run in question.arm.done),
        criterion_failed=True,
        rule=question.rule,
    )


def _launches(question: Question) -> tuple[tuple[LaunchCounts, ...], tuple[LaunchCounts, ...]]:
    after, before = (
        launches_of(arm, setting=question.setting) for arm in (question.arm, question.versus)
    )
    return after, before
