"""Whatever a server says of itself can be stored: it never ends a campaign by what it counts."""

import pytest

from db.vocabulary import ErrorReason, Outcome, TurnReading
from runner.judge.chunk_reading import MOST_TOKENS
from tests.runner.judge.answers import call_delta, delta, stream
from tests.runner.judge.test_hostile_input import judge_bytes

LONE_HALF = "\\ud800"


@pytest.mark.parametrize("number", ["-1", "9" * 400, str(MOST_TOKENS + 1), "1.5", "true", '"9"'])
def test_what_is_no_number_of_tokens_is_not_taken_for_one(number: str) -> None:
    usage = f'{{"prompt_tokens":{number},"prompt_tokens_details":{{"cached_tokens":{number}}}}}'
    extension = f'{{"cached_tokens_details":{{"host":{number}}}}}'
    end = f'{{"choices":[],"usage":{usage},"sglext":{extension}}}'

    message = judge_bytes(stream(delta({"content": "a"}, "stop"), end)).message

    assert message.usage.prompt_tokens is None
    assert message.cached_tokens == {}


def test_the_largest_number_of_tokens_that_every_store_holds_is_kept() -> None:
    end = f'{{"choices":[],"usage":{{"prompt_tokens":{MOST_TOKENS}}}}}'

    assert judge_bytes(stream(end)).message.usage.prompt_tokens == MOST_TOKENS


def test_half_a_character_in_an_end_is_no_text() -> None:
    end = f'{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{LONE_HALF}"}}]}}'

    message = judge_bytes(stream(delta({"content": "a"}), end)).message

    assert message.finish_reason == "\ufffd"
    assert message.finish_reasons == ("\ufffd",)


def test_half_a_character_in_an_error_is_no_text() -> None:
    turn = judge_bytes(stream(f'{{"error":{{"message":"{LONE_HALF} boom","code":"{LONE_HALF}"}}}}'))

    assert (turn.reading, turn.reason) == (TurnReading.ERROR, ErrorReason.IN_BAND_ERROR)
    assert turn.message.in_band_error is not None
    assert turn.message.in_band_error.message == "\ufffd boom"
    assert turn.message.in_band_error.code == "\ufffd"
    assert turn.detail.encode("utf-8")


def test_half_a_character_in_the_arguments_of_a_call_is_no_text_where_it_is_told() -> None:
    arguments = f'{{"{LONE_HALF}": "{LONE_HALF}"}}'

    turn = judge_bytes(
        stream(call_delta(arguments, name="get_weather", id="1"), delta({}, "tool_calls"))
    )

    assert turn.outcome is Outcome.MALFORMED
    assert turn.detail.encode("utf-8")
