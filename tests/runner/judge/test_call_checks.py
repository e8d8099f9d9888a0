import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judge.assembled_message import AssembledCall
from runner.judge.call_checks import CheckedCall, check_call, is_cut_json
from runner.judge.flags import Flag
from runner.judge.record import ToolSpec
from tests.runner.judge.answers import LIST_FILES, WEATHER

SEARCH = ToolSpec("search_open_tickets", {"query": "string"}, ("query",))
TYPED = ToolSpec(
    "typed",
    {
        "s": "string",
        "i": "integer",
        "n": "number",
        "b": "boolean",
        "a": "array",
        "o": "string|null",
    },
    (),
)


def check(name: str, arguments: str, *tools: ToolSpec) -> CheckedCall:
    return check_call(AssembledCall(name, arguments), tools or (WEATHER, LIST_FILES, SEARCH))


@pytest.mark.parametrize("arguments", ['{"city": "Oslo"}', ' {"city":"Oslo","days":2}\n'])
def test_a_known_function_with_its_required_parameters_is_usable(arguments: str) -> None:
    checked = check("get_weather", arguments)

    assert checked.is_usable
    assert checked.flags == ()
    assert checked.arguments == json.loads(arguments)


@pytest.mark.parametrize("arguments", ["", "  ", "{}"])
def test_a_function_without_parameters_may_come_with_empty_arguments(arguments: str) -> None:
    assert check("list_files", arguments).is_usable
    assert Flag.MISSING_REQUIRED in check("get_weather", arguments).flags


@pytest.mark.parametrize(
    ("name", "is_cut"),
    [
        ("search", True),
        ("open_tickets", True),
        ("search_open_tickets_now", False),
        ("Get_Weather", False),
        ("functions.get_weather", False),
        ("get_weather ", False),
        ("", False),
        ('"}', False),
    ],
)
def test_a_name_that_was_not_offered_is_unknown_also_where_it_is_only_cut(
    name: str, is_cut: bool
) -> None:
    checked = check(name, '{"query": "x"}')

    assert not checked.is_usable
    assert (Flag.NAME_CUT in checked.flags) is is_cut
    assert Flag.UNKNOWN_FUNCTION in checked.flags


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        ('{"city": "Oslo"', Flag.TRUNCATED_ARGS),
        ('{"city": "Os', Flag.TRUNCATED_ARGS),
        ('{"city": "O\\', Flag.TRUNCATED_ARGS),
        ('{"city"', Flag.TRUNCATED_ARGS),
        ('{"ci', Flag.TRUNCATED_ARGS),
        ('{"city":', Flag.TRUNCATED_ARGS),
        ('{"city":"Oslo",', Flag.TRUNCATED_ARGS),
        ('{"city":"Oslo","days":-', Flag.TRUNCATED_ARGS),
        ('{"city":"Oslo","x":[1,{"y":tr', Flag.TRUNCATED_ARGS),
        ("{", Flag.TRUNCATED_ARGS),
        ("{}{}", Flag.DUPLICATED_ARGS),
        ('{"city":"Oslo"}{"city":"Oslo"}', Flag.DUPLICATED_ARGS),
        ('{"city":"Oslo"}"{\\"city\\":\\"Oslo\\"}"', Flag.DUPLICATED_ARGS),
        ('{} {"city":"Oslo"}', Flag.DUPLICATED_ARGS),
        ('json\n{"city":"Oslo"}', Flag.BROKEN_JSON),
        ('```json\n{"city":"Oslo"}\n```', Flag.BROKEN_JSON),
        ('{"city":"Oslo"}}', Flag.BROKEN_JSON),
        ("{'city': 'Oslo'}", Flag.BROKEN_JSON),
        ("{city: Oslo}", Flag.BROKEN_JSON),
        ('{"city": NaN}', Flag.BROKEN_JSON),
        ("Oslo", Flag.BROKEN_JSON),
        ("null", Flag.BROKEN_JSON),
        ('["Oslo"]', Flag.BROKEN_JSON),
        ('"Oslo"', Flag.BROKEN_JSON),
        ('"{\\"city\\":\\"Oslo\\"}"', Flag.DOUBLE_ENCODED_ARGS),
        ('[ARGS]{"', Flag.BROKEN_JSON),
        ("}", Flag.BROKEN_JSON),
        ('{"days": 2}', Flag.MISSING_REQUIRED),
    ],
)
def test_arguments_that_cannot_be_used_say_why(arguments: str, flag: Flag) -> None:
    checked = check("get_weather", arguments)

    assert flag in checked.flags
    assert not checked.is_usable
    assert checked.problem


def test_arguments_as_an_object_are_malformed_though_they_can_be_read() -> None:
    call = AssembledCall("get_weather", '{"city": "Oslo"}', has_object_arguments=True)

    checked = check_call(call, (WEATHER,))

    assert checked.flags == (Flag.ARGUMENTS_OBJECT,)
    assert checked.arguments == {"city": "Oslo"}
    assert not checked.is_usable


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ('{"s": "", "i": 1, "n": 1.5, "b": true, "a": [], "o": null}', ()),
        ('{"i": 2.0, "n": 2, "o": "x"}', ()),
        ('{"i": "2"}', (Flag.TYPE_MISMATCH,)),
        ('{"i": true}', (Flag.TYPE_MISMATCH,)),
        ('{"i": 2.5}', (Flag.TYPE_MISMATCH,)),
        ('{"s": null}', (Flag.TYPE_MISMATCH,)),
        ('{"a": {}}', (Flag.TYPE_MISMATCH,)),
        ('{"other": 1}', (Flag.UNKNOWN_ARGUMENT,)),
        ('{"i": 1, "i": 2}', (Flag.DUPLICATE_KEY,)),
    ],
)
def test_types_and_unknown_arguments_are_counted_but_leave_the_call_usable(
    arguments: str, flags: tuple[Flag, ...]
) -> None:
    checked = check("typed", arguments, TYPED)

    assert checked.flags == flags
    assert checked.is_usable


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), JSON_VALUES, min_size=1, max_size=3), st.data())
def test_every_beginning_of_an_object_is_cut_json_and_the_whole_is_not(
    value: dict[str, object], data: st.DataObject
) -> None:
    text = json.dumps(value)

    assert not is_cut_json(text)
    assert is_cut_json(text[: data.draw(st.integers(1, len(text) - 1))])


@given(st.text(alphabet='{}[]":,\\ tnx1-', max_size=40))
def test_any_text_is_checked_without_an_error(text: str) -> None:
    checked = check("get_weather", text)

    assert checked.is_usable is (checked.problem == "")
