"""A stored turn as text that can be compared."""

from runner.difference.transcript import calls_of
from tests.runner.difference.turns import turn


def test_arguments_nested_too_deep_to_be_read_are_no_object_and_keep_their_text() -> None:
    deep = "[" * 100_000

    (call,) = calls_of(turn(call=("look", deep)))

    assert call.arguments == {}
    assert call.text == f"look({deep})"
