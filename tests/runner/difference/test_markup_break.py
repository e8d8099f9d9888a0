"""Where markup that came as text stops being the call that was due."""

import pytest

from runner.difference.markup_break import MarkupPlace, markup_break
from tests.runner.difference.turns import LEAKED

ARGUMENTS = {"city": "oslo"}


@pytest.mark.parametrize(
    ("text", "place", "upto"),
    [
        (LEAKED, MarkupPlace.FRAME, ">oslo"),
        (LEAKED.replace("look_sky", "look_moon"), MarkupPlace.FUNCTION_NAME, 'invoke name="'),
        (LEAKED.replace('"city"', '"town"'), MarkupPlace.PARAMETER_NAME, "look_sky"),
        (LEAKED.replace("oslo", "rome"), MarkupPlace.PARAMETER_VALUE, "city"),
        ('{"name": "look_sky", "arguments": {"city": "oslo"}}', MarkupPlace.FRAME, '"oslo'),
        ('{"name": "look_', MarkupPlace.FUNCTION_NAME, '"name": "'),
        ("<tool_call>", MarkupPlace.FUNCTION_NAME, ""),
    ],
    ids=["whole", "other-name", "other-parameter", "other-value", "json", "cut", "bare"],
)
def test_the_first_word_of_the_call_that_is_missing_is_named(
    text: str, place: MarkupPlace, upto: str
) -> None:
    found = markup_break(text, "look_sky", ARGUMENTS)

    assert found.place is place
    assert text[: found.character].endswith(upto)


def test_a_longer_name_that_begins_with_the_due_one_is_another_name() -> None:
    found = markup_break('invoke name="look_sky_twice"', "look_sky", {})

    assert found.place is MarkupPlace.FUNCTION_NAME


def test_values_that_are_no_text_are_looked_for_as_json() -> None:
    text = '<function=add>{"a": 12, "b": [1, 2]}</function>'

    assert markup_break(text, "add", {"a": 12, "b": [1, 2]}).place is MarkupPlace.FRAME
    assert markup_break(text, "add", {"a": 13}).place is MarkupPlace.PARAMETER_VALUE
