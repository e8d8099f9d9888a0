from typing import Any

import pytest

from db.vocabulary import Outcome
from runner.judge.session_outcome import SessionJudgement, judge_session
from runner.judge.turn_reading import JudgedTurn
from tests.runner.judge.answers import call_delta, delta, judge, judge_text, stream

TOOL = judge(
    stream(call_delta('{"city": "Oslo"}', name="get_weather", id="1"), delta({}, "tool_calls"))
)
DONE = judge_text("Mild.", tool_expected=False)
LEAK = judge_text("<tool_call>")
NO_TOOL = judge_text("Hello!")
DEGENERATE = judge_text("!" * 300)
MALFORMED = judge(stream(call_delta("{", name="get_weather", id="1"), delta({}, "stop")))
WRONG = judge_text("It is MAGPIE-02", other_canaries=("MAGPIE-02",), tool_expected=False)
ERROR = judge(b"", status=503)


def judged(*turns: JudgedTurn, **end: Any) -> SessionJudgement:
    end.setdefault("reached_end", False)
    end.setdefault("rounds_limit_hit", False)
    return judge_session(turns, **end)


def test_a_dialogue_that_reached_its_end_is_done() -> None:
    judgement = judged(TOOL, DONE, reached_end=True)

    assert (judgement.outcome, judgement.reason, judgement.decisive_turn) == ("done", None, None)


def test_a_dialogue_cut_by_the_round_limit_is_maxrounds() -> None:
    assert judged(TOOL, TOOL, rounds_limit_hit=True).outcome == "maxrounds"
    assert judged(TOOL, DONE, reached_end=True, rounds_limit_hit=True).outcome == "done"


@pytest.mark.parametrize(
    ("turn", "outcome"),
    [
        (LEAK, "leak"),
        (NO_TOOL, "no_tool"),
        (MALFORMED, "malformed"),
        (WRONG, "wrong"),
        (DEGENERATE, "degenerate"),
        (ERROR, "error"),
    ],
)
def test_a_bad_turn_decides_also_where_the_dialogue_went_on(turn: JudgedTurn, outcome: str) -> None:
    judgement = judged(TOOL, turn, DONE, reached_end=True)

    assert judgement.outcome == outcome
    assert judgement.decisive_turn == 1
    assert judgement.detail == turn.detail
    assert judgement.reason == turn.reason


def test_the_worst_turn_wins_in_the_order_of_the_outcomes() -> None:
    turns = [ERROR, DEGENERATE, WRONG, MALFORMED, NO_TOOL, LEAK]
    order = list(Outcome)

    for number in range(1, len(turns) + 1):
        assert judged(*turns[:number]).decisive_turn == number - 1
    assert [order.index(Outcome(str(turn.outcome))) for turn in turns] == [5, 4, 3, 2, 1, 0]


def test_a_session_that_had_proved_corrupt_and_then_failed_is_corrupt() -> None:
    assert judged(WRONG, ERROR).outcome == "wrong"
    assert judged(ERROR, LEAK, session_deadline_hit=True).outcome == "leak"


def test_of_two_equal_turns_the_first_decides() -> None:
    assert judged(TOOL, LEAK, LEAK).decisive_turn == 1


def test_a_deadline_between_two_turns_is_an_error_of_that_reason() -> None:
    judgement = judged(TOOL, session_deadline_hit=True)

    assert (judgement.outcome, judgement.reason) == ("error", "session_timeout")


def test_our_own_fault_is_never_blamed_on_the_server() -> None:
    judgement = judged(TOOL, ERROR, harness_error="the tool raised KeyError")

    assert (judgement.outcome, judgement.detail) == ("harness_error", "the tool raised KeyError")
    assert judged(TOOL).outcome == "harness_error"
    assert judged().outcome == "harness_error"


def test_the_flags_of_all_turns_are_kept_once() -> None:
    assert judged(WRONG, WRONG, DEGENERATE).flags == ("foreign_canary", "garbled")
