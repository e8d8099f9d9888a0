import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judge.record import (
    Due,
    DueAnswer,
    DueCall,
    PriorMessage,
    ToolSpec,
    TurnContext,
    due_from_json,
    due_to_json,
)

TEXTS = st.text(max_size=8)
TOOLS = st.builds(
    ToolSpec,
    TEXTS,
    st.dictionaries(TEXTS, TEXTS, max_size=3),
    st.lists(TEXTS, max_size=2).map(tuple),
)
DUES = st.one_of(
    st.none(),
    st.builds(DueCall, TEXTS, st.dictionaries(TEXTS, TEXTS | st.integers(), max_size=3)),
    st.builds(DueAnswer, st.lists(TEXTS, max_size=3).map(tuple)),
)
CONTEXTS = st.builds(
    TurnContext,
    tools=st.lists(TOOLS, max_size=2).map(tuple),
    tool_choice=TEXTS,
    tool_expected=st.booleans(),
    user=TEXTS,
    prior=st.lists(
        st.builds(
            PriorMessage, TEXTS, TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple)
        ),
        max_size=2,
    ).map(tuple),
    canary=st.none() | TEXTS,
    other_canaries=st.lists(TEXTS, max_size=2).map(tuple),
    round_index=st.integers(0, 9),
    max_rounds=st.none() | st.integers(0, 9),
    due=DUES,
    model=st.none() | TEXTS,
)


@given(CONTEXTS)
def test_a_context_comes_back_from_the_store_as_it_was(context: TurnContext) -> None:
    stored = json.loads(json.dumps(context.to_json()))
    due = json.loads(json.dumps(due_to_json(context.due)))

    assert TurnContext.from_json(stored, due) == context


@pytest.mark.parametrize(
    ("due", "stored"),
    [
        (None, {}),
        (DueCall("f", {"x": 1}), {"kind": "call", "name": "f", "arguments": {"x": 1}}),
        (DueAnswer(("a",)), {"kind": "answer", "must_contain": ["a"]}),
    ],
)
def test_what_was_due_is_stored_with_its_kind(due: Due | None, stored: dict[str, object]) -> None:
    assert due_to_json(due) == stored


def test_an_unknown_kind_of_due_is_refused() -> None:
    with pytest.raises(ValueError, match="due has the kind 'song'; allowed: call, answer"):
        due_from_json({"kind": "song"})


def test_a_tool_is_read_as_a_request_offers_it() -> None:
    offered = {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "string"},
                    "b": {"type": ["integer", "null"]},
                    "c": {},
                },
                "required": ["a"],
            },
        },
    }

    tool = ToolSpec.from_openai(json.loads(json.dumps(offered)))

    assert tool == ToolSpec("f", {"a": "string", "b": "integer|null", "c": ""}, ("a",))


def test_a_tool_in_a_context_may_stand_as_in_a_request() -> None:
    offered = {"type": "function", "function": {"name": "f", "parameters": {}}}
    typed = {"name": "g", "properties": {"a": {"type": "string"}}}

    context = TurnContext.from_json(json.loads(json.dumps({"tools": [offered, typed]})))

    assert context.tools == (ToolSpec("f", {}, ()), ToolSpec("g", {"a": "string"}, ()))


def test_a_function_without_parameters_is_read() -> None:
    assert ToolSpec.from_openai({"function": {"name": "f"}}) == ToolSpec("f", {}, ())
