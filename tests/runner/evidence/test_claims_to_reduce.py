"""A claim that corruption gets rarer, and what of its prediction and arm stands beside it."""

from db.vocabulary import Availability, Direction, Headline
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.verdict_decision import ReasonCode
from tests.runner.evidence.verdicts import arm_of, verdict_of

REDUCE = DecisionRule(claim=ClaimKind.REDUCE, predicted_rate=0.1)


def test_wedges_that_nobody_counted_are_not_taken_for_none_where_less_corruption_is_claimed() -> (
    None
):
    predict = "corrupt <= 30 and wedges == 0"
    clean = [(80, 0, 0)] * 3

    counted = verdict_of(arm_of(clean, wedges=0), predict=predict, rule=REDUCE)
    uncounted = verdict_of(arm_of(clean, wedges=None), predict=predict, rule=REDUCE)

    assert (counted.headline, counted.direction) == (Headline.CONFIRMED, Direction.LOWER)
    assert (uncounted.headline, uncounted.direction) == (Headline.INCONCLUSIVE, Direction.LOWER)
    assert ReasonCode.ELIMINATION_NOT_COUNTED in uncounted.reason_codes
    assert "wedges were not counted" in uncounted.sentence
    assert "Corruption was lower" in uncounted.sentence


def test_less_corruption_bought_with_silence_is_told_in_one_breath() -> None:
    before = [(10, 70, 0)] * 3

    verdict = verdict_of([(60, 0, 20)] * 3, before, predict="corrupt <= 30", rule=REDUCE)

    assert (verdict.headline, verdict.availability) == (Headline.CONFIRMED, Availability.WORSE)
    assert "60 of 240 silent v 0 of 240" in verdict.sentence
