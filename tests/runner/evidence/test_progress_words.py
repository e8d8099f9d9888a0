from db.vocabulary import Availability, Direction, Headline
from runner.campaign.prediction import parse_prediction
from runner.evidence.claim_guard import unlicensed_claims
from runner.evidence.counts_question import arm_of_counts
from runner.evidence.criteria import check_criteria
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.progress_words import evidence_so_far, failed_so_far, progress_sentence
from runner.evidence.silent_sessions import LaunchCounts

CLEAN, FAULTY = LaunchCounts(80, 0, 0), LaunchCounts(68, 12, 0)


def test_an_open_run_shows_an_interval_that_bears_watching_and_no_verdict() -> None:
    sentence = progress_sentence(LaunchCounts(30, 3, 2), planned=80)

    assert sentence.startswith("Progress: 35 of 80 sessions ended, 3 corrupt, 2 silent; 0.7")
    assert sentence.endswith("No verdict.")


def test_without_evidence_there_is_no_interval() -> None:
    sentence = progress_sentence(LaunchCounts(0, 0, 4), planned=80)

    assert "no session has given evidence yet" in sentence


def test_the_processes_say_how_far_they_are_and_claim_nothing() -> None:
    sentence = evidence_so_far([CLEAN], [FAULTY], rule=DecisionRule())

    assert "e = 5.0 of 20" in sentence and "e = 11 of 20" in sentence
    claims = unlicensed_claims(
        sentence,
        headline=Headline.INCONCLUSIVE,
        direction=Direction.UNCLEAR,
        availability=Availability.NOT_SHOWN_WORSE,
    )
    assert claims == ()


def test_a_prediction_that_has_failed_is_told_before_the_campaign_ends() -> None:
    criteria = check_criteria(parse_prediction("corrupt == 0"), arm_of_counts("after", [FAULTY]))

    sentence = failed_so_far(criteria, runs=1)

    assert sentence.startswith("Progress after 1 run: 12 corrupt sessions were seen")
    assert "has failed already" in sentence


def test_before_the_first_run_both_stand_at_one() -> None:
    assert evidence_so_far([], [], rule=DecisionRule()).count("e = 1.0") == 2
