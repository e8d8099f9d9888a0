"""A campaign's values as the store takes them; decides nothing that the campaign does not say."""

from db.campaigns import NewArm, NewCampaign, NewHypothesis, RegisteredCampaign
from db.runs import DueRun
from runner.campaign.campaign import Arm, Campaign, Hypothesis, Levels
from runner.campaign.definition import definition_key, definition_of, hypothesis_key
from runner.campaign.matrix import expand_arms, matches
from runner.campaign.schedule import schedule_runs
from runner.campaign.stack_file import Stack
from runner.stacks.fingerprint import own_version


def new_campaign(campaign: Campaign, stack: Stack) -> NewCampaign:
    arms = expand_arms(campaign)
    return NewCampaign(
        name=campaign.name,
        question=campaign.question,
        stack=stack.name,
        source_path=campaign.source_path,
        source_text=campaign.source_text,
        definition=definition_of(campaign, stack),
        definition_key=definition_key(campaign, stack),
        order_seed=campaign.schedule.order_seed,
        corrupt_outcomes=campaign.corrupt,
        code_version=own_version(),
        arms=[_new_arm(arm) for arm in arms],
        hypotheses=[_new_hypothesis(each, campaign, arms) for each in campaign.hypotheses],
    )


def due_runs(campaign: Campaign, stack: Stack, registered: RegisteredCampaign) -> list[DueRun]:
    """The whole schedule, with the arms' rows in place of the arms."""
    arm_ids = {row.position: row.id for row in registered.arms if row.id is not None}
    return [
        DueRun(
            arm_id=arm_ids[planned.arm.position],
            block=planned.block,
            position=planned.position,
            run_key=planned.run_key,
            sessions_planned=planned.arm.sessions,
        )
        for planned in schedule_runs(campaign, expand_arms(campaign), stack=stack)
    ]


def _new_arm(arm: Arm) -> NewArm:
    return NewArm(
        position=arm.position,
        name=arm.name,
        levels=arm.levels,
        concurrency=arm.concurrency,
        sessions_per_run=arm.sessions,
        tag=arm.tag,
        is_baseline=arm.is_baseline,
    )


def _new_hypothesis(
    hypothesis: Hypothesis, campaign: Campaign, arms: tuple[Arm, ...]
) -> NewHypothesis:
    known_good = campaign.known_good
    return NewHypothesis(
        slug=hypothesis.id,
        claim=hypothesis.claim,
        arm_position=_position(hypothesis.arm, arms),
        versus_position=_position(hypothesis.versus, arms),
        predict=str(hypothesis.predict),
        tolerate=hypothesis.tolerate,
        goal=hypothesis.goal,
        predicted_rate=hypothesis.predicted_rate,
        known_good_position=None if known_good is None else _position(known_good, arms),
        definition_key=hypothesis_key(hypothesis, known_good),
    )


def _position(levels: Levels, arms: tuple[Arm, ...]) -> int:
    """Hypothesis arms survive the exclusions; that was checked when the file was read."""
    return next(arm.position for arm in arms if matches(arm.levels, levels))
