"""Questions and verdicts for tests, from counts as short as the recorded cases have them."""

from collections.abc import Sequence

from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.campaign_verdict import CampaignVerdict, Question, judge_hypothesis
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule
from tests.runner.evidence.arms import arm, run

# clean, corrupt, silent of one run
Run = tuple[int, int, int]

FAULTY: Sequence[Run] = [(68, 12, 0), (66, 14, 0)]
PREDICTION = "corrupt == 0 and wedges == 0"


def arm_of(
    runs: Sequence[Run],
    *,
    name: str = "after",
    wedges: int | None = 0,
    flags: tuple[str, ...] = (),
    blocks: int | None = None,
) -> ArmEvidence:
    """`wedges` are those of its first run."""
    made = [
        run(
            {"done": clean, "leak": corrupt, "error": silent},
            block=block,
            label=f"{name} {block}",
            wedges=wedges if block == 1 or wedges is None else 0,
            flags=flags,
        )
        for block, (clean, corrupt, silent) in enumerate(runs, start=1)
    ]
    return arm(*made, name=name, blocks=blocks)


def question_of(
    after: Sequence[Run] | ArmEvidence,
    before: Sequence[Run] | ArmEvidence = FAULTY,
    *,
    predict: str = PREDICTION,
    rule: DecisionRule | None = None,
    setting: ComparisonSetting | None = None,
) -> Question:
    return Question(
        prediction=parse_prediction(predict),
        arm=after if isinstance(after, ArmEvidence) else arm_of(after),
        versus=before if isinstance(before, ArmEvidence) else arm_of(before, name="before"),
        rule=rule or DecisionRule(),
        setting=setting or ComparisonSetting(),
    )


def verdict_of(
    after: Sequence[Run] | ArmEvidence,
    before: Sequence[Run] | ArmEvidence = FAULTY,
    *,
    predict: str = PREDICTION,
    rule: DecisionRule | None = None,
    setting: ComparisonSetting | None = None,
) -> CampaignVerdict:
    return judge_hypothesis(question_of(after, before, predict=predict, rule=rule, setting=setting))
