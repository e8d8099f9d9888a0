"""A stored turn is shown with what was asked, due and come, whatever shape its JSON has."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.turn_view import cached_by_source, call_text, due_text, view_turn
from tests.app.scenes import LEAK
from tests.db.turn_facts import turn_facts

LEAKED = {"content": LEAK, "tool_calls": []}
SPAN = {"field": "content", "start": 23, "end": len(LEAK), "family": "dsml"}
DUE = {"kind": "call", "name": "refund_order", "arguments": {"order_id": "A-20417"}}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def test_a_due_call_is_written_like_a_call() -> None:
    assert due_text(DUE) == 'refund_order(order_id = "A-20417")'


def test_a_due_answer_lists_what_it_must_contain() -> None:
    assert due_text({"kind": "answer", "must_contain": ["amber", "river"]}) == "amber\nriver"


def test_arguments_that_are_no_json_stand_as_they_came() -> None:
    assert call_text("look", '{"city": "am') == 'look({"city": "am)'


def test_arguments_nested_too_deep_to_be_read_stand_as_they_came() -> None:
    deep = "[" * 100_000

    assert call_text("look", deep) == f"look({deep})"


def test_a_leak_is_marked_in_the_field_in_which_it_came() -> None:
    view = view_turn(turn_facts(got=LEAKED, markup=[SPAN], due=DUE))

    (part,) = view.came
    assert part.field == "content"
    assert part.spans[0].start == 23
    assert part.spans[0].note == "dsml markup as text"


def test_a_name_that_no_tool_has_is_pointed_at() -> None:
    context = {"tools": [{"name": "refund_order"}]}

    view = view_turn(turn_facts(got=LEAKED, markup=[SPAN], due=DUE, context=context))

    named = view.came[0].spans[1]
    assert LEAK[named.start : named.end] == "refund_refund_order"
    assert named.note == "no such tool in this session"


def test_a_name_of_another_tool_says_which_was_due() -> None:
    context = {"tools": [{"name": "refund_refund_order"}, {"name": "refund_order"}]}

    view = view_turn(turn_facts(got=LEAKED, markup=[SPAN], due=DUE, context=context))

    assert view.came[0].spans[1].note == "refund_order was due"


def test_a_structured_call_is_shown_as_one_line() -> None:
    got = {"content": "", "tool_calls": [{"name": "look", "arguments": '{"city": "x"}'}]}

    view = view_turn(turn_facts(got=got))

    assert view.came[0].text == 'look(city = "x")'


def test_markup_inside_arguments_is_marked_there() -> None:
    got = {"tool_calls": [{"name": "look", "arguments": '{"city": "<x>"}'}]}
    span = {"field": "arguments", "start": 10, "end": 13, "family": "xml"}

    view = view_turn(turn_facts(got=got, markup=[span]))

    assert view.came[0].text == '{"city": "<x>"}'
    assert view.came[0].spans[0].start == 10


def test_a_tool_result_is_what_the_turn_was_asked_with() -> None:
    context = {"user": "please", "prior": [{"role": "tool", "text": "amber"}]}

    view = view_turn(turn_facts(context=context))

    assert (view.asked_by, view.asked) == ("Tool result", "amber")


def test_an_error_inside_the_stream_is_shown() -> None:
    view = view_turn(turn_facts(got={"in_band_error": {"message": "aborted"}}))

    assert view.came[0].field == "error"
    assert "aborted" in view.came[0].text


def test_cached_tokens_are_told_by_source_without_zeros_and_the_sum() -> None:
    cached = {"device": 192, "host": 0, "total": 192}

    assert cached_by_source(cached) == {"device": 192}


@given(
    st.dictionaries(st.text(max_size=8), JSON),
    st.fixed_dictionaries({}, optional={"content": JSON, "tool_calls": JSON, "reasoning": JSON}),
    st.fixed_dictionaries({}, optional={"tools": JSON, "prior": JSON, "user": JSON}),
    st.lists(JSON, max_size=3),
)
def test_no_stored_json_breaks_a_turn(
    due: dict[str, Any], got: dict[str, Any], context: dict[str, Any], markup: list[Any]
) -> None:
    view = view_turn(turn_facts(due=due, got=got, context=context, markup=markup))

    assert all(isinstance(part.text, str) for part in view.came)
