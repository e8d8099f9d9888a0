"""A stored verdict is taken apart into what pages show; its lines are the ones that are printed."""

from typing import Any

import pytest

from app.stored_verdict import GONE, LESS, SILENCE, read_verdict
from db.reads.campaigns import VerdictFacts
from db.vocabulary import RunState
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.campaign_verdict import Question, judge_hypothesis
from runner.evidence.counts import counted
from runner.evidence.verdict_text import verdict_lines
from tests.app.values import CORRUPT, verdict_facts

SAID = [
    "REFUTED. It failed.",
    f"{GONE} The prediction failed: 5 corrupt sessions were seen.",
    f"{LESS} Not shown.",
    f"{SILENCE} Availability is worse.",
    "Basis: 2 runs.",
    "Note: One run only.",
    "Next 1: Find what wedged. (no run)",
    "Next 2: Two more runs. (2 runs)",
]


def test_the_three_answers_stand_with_their_questions_and_sentences() -> None:
    verdict = read_verdict(verdict_facts(said=SAID))

    assert verdict is not None
    assert [answer.word for answer in verdict.answers] == ["refuted", "not shown", "worse"]
    assert verdict.answers[0].sentence == "The prediction failed: 5 corrupt sessions were seen."
    assert verdict.basis == "Basis: 2 runs."
    assert verdict.notes == ("One run only.",)
    assert verdict.next_steps == ("Find what wedged.", "Two more runs. (2 runs)")


@pytest.mark.parametrize("command", ["`decisive clusters CAMPAIGN`", "decisive clusters CAMPAIGN"])
def test_a_command_in_a_next_step_names_the_campaign_that_it_is_about(command: str) -> None:
    said = [*SAID[:6], f"Next 1: Find what they share: {command}. (no run)"]

    verdict = read_verdict(verdict_facts(campaign_id=7, said=said))

    assert verdict is not None
    assert verdict.next_steps == ("Find what they share: decisive clusters c-7.",)


def test_arms_that_were_not_compared_get_no_answer_that_says_more() -> None:
    said = [SAID[0], *(f"{question} Not compared: no run." for question in (GONE, LESS, SILENCE))]

    verdict = read_verdict(verdict_facts(said=said, availability="not_shown_worse"))

    assert verdict is not None
    assert {answer.word for answer in verdict.answers} == {"not compared"}


def test_an_exploratory_verdict_is_told_from_its_sentence() -> None:
    verdict = read_verdict(verdict_facts(sentence="Exploratory: It failed."))

    assert verdict is not None
    assert verdict.is_exploratory
    assert verdict.sentence == "It failed."


def test_a_verdict_whose_lines_were_not_stored_still_has_its_answers() -> None:
    verdict = read_verdict(verdict_facts(said=None))

    assert verdict is not None
    assert [answer.sentence for answer in verdict.answers] == ["", "", ""]
    assert verdict.next_steps == ()


def test_an_unjudged_hypothesis_has_no_verdict() -> None:
    assert read_verdict(verdict_facts(headline=None)) is None


def test_the_lines_of_the_judge_are_the_lines_that_are_read() -> None:
    judged = judge_hypothesis(
        Question(
            prediction=parse_prediction("corrupt == 0"),
            arm=ArmEvidence("after", (_run("r-2", {"leak": 5, "error": 75}),), 1),
            versus=ArmEvidence("before", (_run("r-1", {"leak": 12, "done": 68}),), 1),
        )
    )

    verdict = read_verdict(_facts_of(judged))

    assert verdict is not None
    assert all(answer.sentence for answer in verdict.answers)
    assert verdict.next_steps
    assert verdict.basis == judged.basis


def _run(label: str, outcomes: dict[str, int]) -> RunEvidence:
    return RunEvidence(
        label=label,
        block=1,
        state=RunState.DONE,
        counts=counted(outcomes, corrupt=CORRUPT),
        wedges=0,
        wedge_requests=0,
        wedge_lines=0,
        flags=(),
        reason=None,
    )


def _facts_of(judged: Any) -> VerdictFacts:
    return verdict_facts(
        headline=str(judged.headline),
        elimination=str(judged.elimination),
        direction=str(judged.direction),
        availability=str(judged.availability),
        sentence=judged.sentence,
        said=list(verdict_lines(judged)),
    )
