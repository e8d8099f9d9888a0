"""A question made from bare counts, for calculators and imported runs; the runs are made up."""

from collections.abc import Sequence

from db.vocabulary import Outcome, RunState
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.campaign_verdict import Question
from runner.evidence.counts import SessionCounts
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.silent_sessions import LaunchCounts

NO_CORRUPTION = "corrupt == 0"


def question_of_counts(
    after: Sequence[LaunchCounts],
    before: Sequence[LaunchCounts],
    *,
    predict: str = NO_CORRUPTION,
    rule: DecisionRule | None = None,
    wedges: int | None = None,
) -> Question:
    """`wedges` of the after arm's first run, None for not counted."""
    return Question(
        prediction=parse_prediction(predict),
        arm=arm_of_counts("after", after, wedges=wedges),
        versus=arm_of_counts("before", before, wedges=None),
        rule=rule or DecisionRule(),
    )


def arm_of_counts(
    name: str,
    launches: Sequence[LaunchCounts],
    *,
    wedges: int | None = None,
    wedge_lines: int = 0,
    wedge_requests: int = 0,
) -> ArmEvidence:
    runs = [
        RunEvidence(
            label=f"{name} {block}",
            block=block,
            state=RunState.DONE,
            counts=SessionCounts(
                {
                    Outcome.DONE: launch.clean,
                    Outcome.LEAK: launch.corrupt,
                    Outcome.ERROR: launch.silent,
                }
            ),
            wedges=None if wedges is None else wedges if block == 1 else 0,
            wedge_lines=wedge_lines if block == 1 else 0,
            wedge_requests=wedge_requests if block == 1 else 0,
        )
        for block, launch in enumerate(launches, start=1)
    ]
    return ArmEvidence(name, tuple(runs), len(runs))
