import json
from dataclasses import replace
from itertools import product

import pytest

from db.vocabulary import Availability, Direction, Elimination, Headline, RunFlag, RunState
from runner.evidence.arm_evidence import RunEvidence
from runner.evidence.campaign_verdict import judge_campaign
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.counts import counted
from runner.evidence.decision_rule import ClaimKind, DecisionRule, Ending
from runner.evidence.silent_sessions import SilentPolicy
from runner.evidence.verdict_caveats import CaveatKind
from runner.evidence.verdict_decision import ReasonCode
from tests.runner.evidence.arms import arm
from tests.runner.evidence.verdicts import FAULTY, Run, arm_of, question_of, verdict_of

CLEAN: list[Run] = [(80, 0, 0)] * 3


def test_clean_runs_beside_a_faulty_arm_confirm() -> None:
    verdict = verdict_of(CLEAN)

    assert verdict.headline is Headline.CONFIRMED
    assert verdict.reasons == ()
    assert "does not show that the rate is zero" in verdict.sentence


def test_one_corrupt_session_refutes_however_many_are_clean() -> None:
    verdict = verdict_of([(79, 1, 0), *[(80, 0, 0)] * 5], [(40, 40, 0)] * 6)

    assert verdict.elimination is Elimination.REFUTED
    assert verdict.headline is Headline.IMPROVED_NOT_ELIMINATED


def test_a_wedge_alone_refutes_and_does_not_make_an_improvement() -> None:
    verdict = verdict_of(arm_of(CLEAN, wedges=1))

    assert verdict.headline is Headline.REFUTED
    assert verdict.direction is Direction.LOWER
    assert verdict.reason_codes == {"criterion wedges == 0 failed (1 seen)"}
    assert "1 wedge was seen" in verdict.sentence and "Corruption was lower" not in verdict.sentence


def test_wedges_that_nobody_counted_are_not_taken_for_none() -> None:
    verdict = verdict_of(arm_of(CLEAN, wedges=None))

    assert verdict.headline is Headline.INCONCLUSIVE
    assert ReasonCode.ELIMINATION_NOT_COUNTED in verdict.reason_codes
    assert verdict_of(arm_of(CLEAN, wedges=None), predict="corrupt == 0").headline is (
        Headline.CONFIRMED
    )


def test_a_prediction_that_says_nothing_of_corruption_confirms_nothing() -> None:
    verdict = verdict_of(CLEAN, predict="wedges == 0")

    assert verdict.headline is Headline.INCONCLUSIVE
    assert ReasonCode.ELIMINATION_NOT_PREDICTED in verdict.reason_codes


def test_a_few_benign_silences_are_borne_and_named() -> None:
    verdict = verdict_of([(80, 0, 0), (79, 0, 1), (79, 0, 1)], [(68, 12, 0), (67, 12, 1)] * 2)

    assert verdict.comparison is not None
    assert verdict.comparison.limits.policy is SilentPolicy.JUMP_TO_BASELINE
    assert verdict.headline is Headline.CONFIRMED


def test_more_silence_than_before_withholds_the_confirmation() -> None:
    verdict = verdict_of([(77, 0, 3)] * 3, [(56, 24, 0)] * 3)

    assert verdict.availability is Availability.WORSE
    assert verdict.headline is Headline.INCONCLUSIVE
    assert ReasonCode.SILENCE_ROSE in verdict.reason_codes


def test_without_a_control_that_failed_nothing_is_confirmed() -> None:
    verdict = verdict_of(CLEAN, [(80, 0, 0)] * 3)

    assert verdict.elimination is Elimination.CONFIRMED
    assert verdict.headline is Headline.INCONCLUSIVE
    assert ReasonCode.DIRECTION_NOT_REPRODUCED in verdict.reason_codes


# --- comparisons that do not hold, before any statistics


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        (
            ComparisonSetting(undeclared_differences=("model: a v b",)),
            ReasonCode.INVALID_DIFFERENCES,
        ),
        (ComparisonSetting(unverified=("after: host_pool",)), ReasonCode.INVALID_UNVERIFIED),
        (ComparisonSetting(sessions_planned={"after 2": 90}), ReasonCode.INVALID_COUNTS),
    ],
)
@pytest.mark.parametrize("after", [CLEAN, [(70, 10, 0)] * 3])
def test_an_invalid_comparison_is_told_before_any_statistics(
    after: list[Run], setting: ComparisonSetting, code: ReasonCode
) -> None:
    verdict = verdict_of(after, setting=setting)

    assert verdict.headline is Headline.INCONCLUSIVE
    assert verdict.comparison is None
    assert verdict.reason_codes == {code}
    assert verdict.experiments[0].text.startswith("Put right")


@pytest.mark.parametrize(
    ("flag", "code"),
    [
        (RunFlag.CLIENT_SATURATED, ReasonCode.INVALID_SATURATED),
        (RunFlag.NOT_EXERCISED, ReasonCode.INVALID_NOT_EXERCISED),
    ],
)
@pytest.mark.parametrize("flagged", ["after", "before"])
def test_a_flag_that_spoils_evidence_spoils_it_in_either_arm(
    flag: RunFlag, code: ReasonCode, flagged: str
) -> None:
    arms = {"after": CLEAN, "before": FAULTY}
    made = {
        name: arm_of(runs, name=name, flags=(flag,) if name == flagged else ())
        for name, runs in arms.items()
    }

    verdict = verdict_of(made["after"], made["before"])

    assert verdict.headline is Headline.INCONCLUSIVE
    assert verdict.reason_codes == {code}
    assert flagged in verdict.sentence


def test_corruption_in_an_invalid_comparison_is_mentioned_all_the_same() -> None:
    verdict = verdict_of(arm_of([(75, 5, 0)] * 3, flags=(RunFlag.NOT_EXERCISED,)))

    assert verdict.headline is Headline.INCONCLUSIVE
    assert "15 corrupt sessions were seen" in verdict.sentence


def test_what_was_not_registered_is_exploratory_and_shares_alpha() -> None:
    single = [(80, 0, 0)], [(68, 12, 0)]

    registered = verdict_of(*single)
    exploratory = verdict_of(*single, rule=DecisionRule(is_registered=False))

    assert registered.direction is Direction.LOWER
    assert exploratory.direction is Direction.UNCLEAR
    assert exploratory.is_exploratory
    assert exploratory.sentence.startswith("Exploratory: ")


def test_a_control_of_another_day_is_called_historical() -> None:
    verdict = verdict_of(CLEAN, setting=ComparisonSetting(is_versus_concurrent=False))

    assert CaveatKind.HISTORICAL_CONTROL in {caveat.kind for caveat in verdict.caveats}


def test_a_claim_to_reduce_is_held_by_direction_and_broken_by_a_rate_above_the_prediction() -> None:
    rule = DecisionRule(claim=ClaimKind.REDUCE, predicted_rate=0.06)
    before = [(68, 12, 0), (66, 14, 0), (69, 11, 0)]

    lower = verdict_of([(77, 3, 0)] * 3, before, predict="corrupt <= 99", rule=rule)
    above = verdict_of([(66, 14, 0)] * 3, before, predict="corrupt <= 99", rule=rule)
    higher = verdict_of([(40, 40, 0)] * 3, before, predict="corrupt <= 199", rule=rule)
    unclear = verdict_of(
        [(73, 7, 0), (68, 12, 0), (76, 4, 0)], before, predict="corrupt <= 99", rule=rule
    )

    assert [v.headline for v in (lower, above, higher, unclear)] == [
        Headline.CONFIRMED,
        Headline.REFUTED,
        Headline.WORSE,
        Headline.INCONCLUSIVE,
    ]
    assert "predicted rate of 6.0" in above.sentence


def test_corruption_within_the_background_of_a_known_good_arm_does_not_refute() -> None:
    after: list[Run] = [(79, 1, 0), (80, 0, 0), (79, 1, 0)]

    strict = verdict_of(after)
    tolerant = verdict_of(after, rule=DecisionRule(background=0.01))

    assert strict.elimination is Elimination.REFUTED
    assert tolerant.elimination is Elimination.CONFIRMED
    assert tolerant.sentence.startswith("2 corrupt in 240 sessions")


def test_an_answer_reached_by_watching_is_carried_by_e_values() -> None:
    rule = DecisionRule(ending=Ending.DECIDED)
    setting = ComparisonSetting(ended_by_rule=True)

    enough = verdict_of(CLEAN[:2], FAULTY, rule=rule, setting=setting)
    too_few = verdict_of(CLEAN[:1], FAULTY[:1], rule=rule, setting=setting)

    assert enough.headline is Headline.CONFIRMED
    assert "e = " in enough.answers.direction
    assert too_few.direction is Direction.UNCLEAR


def test_a_campaign_that_was_extended_says_so_beside_its_verdict() -> None:
    question = question_of([(80, 0, 0)] * 3, [(68, 12, 0)] * 3)
    extended = replace(question, setting=replace(question.setting, planned_blocks=2))

    caveats = {caveat.kind: caveat.text for caveat in judge_campaign({"a": extended})["a"].caveats}
    plain = {caveat.kind for caveat in judge_campaign({"a": question})["a"].caveats}

    assert "2 blocks were planned before the first run" in caveats[CaveatKind.EXTENDED]
    assert CaveatKind.EXTENDED not in plain


def test_several_hypotheses_share_the_risk_of_a_false_claim() -> None:
    single = question_of([(80, 0, 0)], [(68, 12, 0)])

    alone = judge_campaign({"a": single})["a"]
    among = judge_campaign({"a": single, "b": question_of([(70, 10, 0)], [(70, 10, 0)])})["a"]

    assert alone.direction is Direction.LOWER
    assert among.direction is Direction.UNCLEAR
    assert CaveatKind.SEVERAL_HYPOTHESES in {caveat.kind for caveat in among.caveats}


def test_from_six_runs_an_arm_on_the_sentence_says_that_run_rates_decide() -> None:
    verdict = verdict_of([(80, 0, 0)] * 6, [(70, 10, 0), (68, 12, 0)] * 3)

    assert "t test on run rates decides" in verdict.basis
    assert verdict.headline is Headline.CONFIRMED


def test_five_blocks_have_a_second_opinion_that_drift_cannot_bend() -> None:
    verdict = verdict_of([(80, 0, 0)] * 5, [(70, 10, 0), (68, 12, 0), *[(69, 11, 0)] * 3])

    texts = {caveat.kind: caveat.text for caveat in verdict.caveats}
    assert "5 blocks" in texts[CaveatKind.SHUFFLED_BLOCKS]
    assert "gives p = 0.031 for fewer (p = 0.031 at best)" in texts[CaveatKind.SHUFFLED_BLOCKS]
    four = verdict_of([(80, 0, 0)] * 4, [(70, 10, 0)] * 4)
    assert CaveatKind.SHUFFLED_BLOCKS not in {caveat.kind for caveat in four.caveats}


# --- the record


def test_all_that_it_was_made_from_can_be_stored_as_json() -> None:
    for after, before in product(([(0, 5, 75)], CLEAN), (FAULTY, [(80, 0, 0)])):
        verdict = verdict_of(after, before)
        stored = json.loads(json.dumps(verdict.inputs))
        assert stored["predict"] == "corrupt == 0 and wedges == 0"
        assert [each["corrupt"] for each in stored["arm"]["runs"]] == [k for _, k, _ in after]
        assert stored["rule"]["tolerate"] == 0.05


def test_unequal_clean_runs_do_not_talk_a_confirmation_away() -> None:
    runs: list[Run] = [(60, 0, 0), (80, 0, 0)]
    before: list[Run] = [(104, 4, 0), (74, 6, 0), (53, 7, 0), (76, 4, 0)]

    confirmed = verdict_of(runs, before)
    with_one_more = verdict_of([*runs, (1, 0, 0)], before)

    assert confirmed.headline is with_one_more.headline is Headline.CONFIRMED
    assert CaveatKind.SURPLUS_LEFT_OUT in {caveat.kind for caveat in with_one_more.caveats}


def test_a_hypothesis_whose_runs_are_missing_still_shares_the_risk() -> None:
    single = question_of([(80, 0, 0)], [(68, 12, 0)])
    missing = question_of(arm_of([(70, 10, 0)], blocks=3), [(70, 10, 0)])

    among = judge_campaign({"a": single, "b": missing})["a"]

    assert among.direction is Direction.UNCLEAR


def test_a_hypothesis_written_later_weakens_none_that_was_registered() -> None:
    single = question_of([(80, 0, 0)], [(68, 12, 0)])
    later = question_of(
        [(80, 0, 0)], [(68, 12, 0)], rule=DecisionRule(is_registered=False, hypotheses=2)
    )

    judged = judge_campaign({"a": single, "later": later})

    assert judged["a"].direction is Direction.LOWER
    assert judged["later"].direction is Direction.UNCLEAR
    assert judged["later"].sentence.startswith("Exploratory: ")
    assert CaveatKind.SEVERAL_HYPOTHESES not in {c.kind for c in judged["a"].caveats}


def test_a_background_is_named_in_the_verdict() -> None:
    setting = ComparisonSetting(background="Background: 3 of 240 sessions were corrupt.")

    verdict = verdict_of(CLEAN, FAULTY, setting=setting)

    assert [c.text for c in verdict.caveats if c.kind is CaveatKind.BACKGROUND] == [
        setting.background
    ]


# --- ways to a stronger verdict than the evidence bears


def test_outcomes_that_a_campaign_does_not_count_are_named_beside_its_verdict() -> None:
    uncounted = [
        RunEvidence(
            label=f"after {b}",
            block=b,
            state=RunState.DONE,
            counts=counted({"done": 60, "leak": 20}, corrupt=["malformed"]),
            wedges=0,
        )
        for b in (1, 2, 3)
    ]

    verdict = verdict_of(arm(*uncounted))

    assert verdict.headline is Headline.CONFIRMED
    assert [c.text for c in verdict.caveats if c.kind is CaveatKind.UNCOUNTED_OUTCOMES] == [
        "after: 60 leak seen, which this campaign does not count as corrupt."
    ]


def test_a_campaign_that_was_tried_before_under_its_name_says_so() -> None:
    verdict = verdict_of(CLEAN, setting=ComparisonSetting(earlier_campaigns=("c-1", "c-2")))

    (said,) = [c.text for c in verdict.caveats if c.kind is CaveatKind.EARLIER_CAMPAIGNS]
    assert said.startswith("Not the first of its name in this store: c-1, c-2 had begun before")
