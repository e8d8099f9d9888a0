from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judge.call_joining import CallJoiner
from runner.judge.flags import Flag

NAMED = {"id": "a", "name": "read_file"}


def entry(index: Any = 0, *, id: str | None = None, **function: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"function": function}
    if index is not None:
        found["index"] = index
    if id is not None:
        found["id"] = id
    return found


def join(*deltas: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], set[Flag]]:
    joiner = CallJoiner()
    for entries in deltas:
        joiner.add_fragments(list(entries))
    return [(call.name, call.arguments) for call in joiner.joined()], set(joiner.faults)


def test_fragments_of_two_calls_that_alternate_are_told_apart_by_index() -> None:
    calls, faults = join(
        [entry(0, id="a", name="f", arguments="")],
        [entry(1, id="b", name="g", arguments="")],
        [entry(0, arguments='{"x"')],
        [entry(1, arguments='{"y"')],
        [entry(0, arguments=":1}")],
        [entry(1, arguments=":2}")],
    )

    assert calls == [("f", '{"x":1}'), ("g", '{"y":2}')]
    assert faults == set()


def test_a_name_and_an_id_in_every_delta_are_one_call() -> None:
    calls, faults = join(
        *([entry(0, id="a", name="f", arguments=piece)] for piece in ("", '{"x"', ":1}"))
    )

    assert calls == [("f", '{"x":1}')]
    assert faults == {Flag.NAME_REPEATED}


def test_a_fresh_id_in_every_delta_is_one_call() -> None:
    calls, faults = join(
        [entry(0, id="a", name="f", arguments="")],
        [entry(0, id="b", arguments='{"x"')],
        [entry(0, id="c", arguments=":1}")],
    )

    assert calls == [("f", '{"x":1}')]
    assert faults == {Flag.ID_DRIFT}


def test_a_fresh_id_and_the_name_in_every_delta_are_one_call_while_it_is_not_whole() -> None:
    calls, faults = join(
        [entry(0, id="a", name="f", arguments='{"x"')],
        [entry(0, id="b", name="f", arguments=":1}")],
    )

    assert calls == [("f", '{"x":1}')]
    assert faults == {Flag.ID_DRIFT, Flag.NAME_REPEATED}


@pytest.mark.parametrize("is_one_delta", [True, False])
def test_two_whole_calls_under_one_index_are_two_calls(is_one_delta: bool) -> None:
    first = entry(0, id="a", name="f", arguments='{"x":1}')
    second = entry(0, id="b", name="f", arguments='{"x":2}')

    calls, faults = join([first, second]) if is_one_delta else join([first], [second])

    assert calls == [("f", '{"x":1}'), ("f", '{"x":2}')]
    assert faults == {Flag.INDEX_REUSE}


def test_two_starts_under_one_index_in_one_delta_are_two_calls() -> None:
    calls, _ = join(
        [entry(0, id="a", name="f", arguments=""), entry(0, id="b", name="g", arguments="")]
    )

    assert [name for name, _ in calls] == ["f", "g"]


def test_another_function_under_the_same_index_is_another_call() -> None:
    calls, faults = join(
        [entry(0, id="a", name="f", arguments='{"x":1')],
        [entry(0, id="b", name="g", arguments="{}")],
    )

    assert calls == [("f", '{"x":1'), ("g", "{}")]
    assert faults == {Flag.INDEX_REUSE}


def test_calls_without_an_index_are_told_apart_by_their_place_and_id() -> None:
    calls, faults = join(
        [
            entry(None, id="a", name="f", arguments="{}"),
            entry(None, id="b", name="f", arguments="{}"),
        ]
    )

    assert calls == [("f", "{}"), ("f", "{}")]
    assert faults == {Flag.INDEX_MISSING}


def test_fragments_without_an_index_follow_their_id() -> None:
    calls, _ = join(
        [entry(None, id="a", name="f", arguments="")],
        [entry(None, id="b", name="g", arguments="")],
        [entry(None, id="a", arguments='{"x":1}')],
        [entry(None, id="b", arguments='{"y":2}')],
    )

    assert calls == [("f", '{"x":1}'), ("g", '{"y":2}')]


def test_fragments_without_index_and_id_follow_their_place_in_the_list() -> None:
    calls, _ = join(
        [entry(None, name="f", arguments=""), entry(None, name="g", arguments="")],
        [entry(None, arguments='{"x":1}'), entry(None, arguments='{"y":2}')],
    )

    assert calls == [("f", '{"x":1}'), ("g", '{"y":2}')]


def test_fragments_that_say_nothing_of_their_call_belong_to_the_last_one() -> None:
    calls, _ = join(
        [entry(None, id="a", name="f", arguments='{"x"')], [entry(None, arguments=":1}")]
    )

    assert calls == [("f", '{"x":1}')]


@pytest.mark.parametrize("id_of_rest", [None, "a", "fresh"])
def test_an_index_that_counts_fragments_is_a_drift_and_the_call_is_joined(
    id_of_rest: str | None,
) -> None:
    calls, faults = join(
        [entry(0, id="a", name="f", arguments='{"x"')],
        [entry(1, id=id_of_rest, arguments=":")],
        [entry(2, id=id_of_rest, arguments="1}")],
    )

    assert calls == [("f", '{"x":1}')]
    assert Flag.INDEX_DRIFT in faults


def test_arguments_without_a_name_behind_a_whole_call_are_a_call_without_a_name() -> None:
    calls, _ = join([entry(0, id="a", name="f", arguments="{}")], [entry(1, arguments='{"x":1}')])

    assert calls == [("f", "{}"), ("", '{"x":1}')]


def test_one_id_for_two_calls_is_a_fault_but_two_calls() -> None:
    calls, faults = join(
        [entry(0, id="call_0", name="f", arguments="")],
        [entry(1, id="call_0", name="g", arguments="")],
        [entry(0, arguments="{}")],
        [entry(1, arguments="{}")],
    )

    assert calls == [("f", "{}"), ("g", "{}")]
    assert faults == {Flag.ID_REUSE}


def test_a_name_in_pieces_is_put_together() -> None:
    pieces, _ = join([entry(0, id="a", name="get_")], [entry(0, name="weather", arguments="{}")])
    growing, faults = join(
        [entry(0, id="a", name="get_")], [entry(0, name="get_weather", arguments="{}")]
    )

    assert pieces == growing == [("get_weather", "{}")]
    assert faults == {Flag.NAME_IN_PIECES}


def test_calls_under_one_index_without_ids_are_told_apart_by_their_whole_arguments() -> None:
    calls, faults = join(
        [entry(0, name="f", arguments='{"x":1}')], [entry(0, name="f", arguments='{"x":2}')]
    )

    assert calls == [("f", '{"x":1}'), ("f", '{"x":2}')]
    assert faults == {Flag.INDEX_REUSE}


def test_calls_under_one_index_may_be_streamed_in_pieces() -> None:
    calls, _ = join(
        [entry(0, id="a", name="f", arguments="")],
        [entry(0, arguments='{"x":1}')],
        [entry(0, id="b", name="f", arguments="")],
        [entry(0, arguments='{"x":2}')],
    )

    assert calls == [("f", '{"x":1}'), ("f", '{"x":2}')]


def test_a_call_may_begin_with_its_id_alone() -> None:
    calls, faults = join(
        [entry(0, id="a", name="f", arguments='{"x":')],
        [entry(1, id="b")],
        [entry(0, arguments="1}")],
        [entry(1, name="g", arguments="{}")],
    )

    assert calls == [("f", '{"x":1}'), ("g", "{}")]
    assert faults == set()


def test_the_same_arguments_again_under_the_same_id_stay_one_call() -> None:
    calls, _ = join(
        [entry(0, id="a", name="f", arguments='{"x":1}')],
        [entry(0, id="a", name="f", arguments='{"x":1}')],
    )

    assert calls == [("f", '{"x":1}{"x":1}')]


def test_an_empty_fragment_at_the_end_changes_nothing() -> None:
    nothing = {"index": 0, "id": None, "function": {"name": None, "arguments": None}}
    calls, faults = join([entry(0, id="a", name="f", arguments="{}")], [nothing], [{"index": 0}])

    assert calls == [("f", "{}")]
    assert faults == set()


def test_an_index_may_be_a_text() -> None:
    calls, faults = join([entry("0", id="a", name="f", arguments="{")], [entry("0", arguments="}")])

    assert calls == [("f", "{}")]
    assert faults == set()


def test_arguments_as_an_object_are_written_out_and_marked() -> None:
    joiner = CallJoiner()
    joiner.add_whole_calls([{"id": "1", "function": {"name": "f", "arguments": {"x": "ü"}}}])

    assert joiner.joined()[0].arguments == '{"x": "ü"}'
    assert joiner.joined()[0].has_object_arguments


def test_whole_calls_need_no_index() -> None:
    joiner = CallJoiner()
    joiner.add_whole_calls(
        [{"function": {"name": "f", "arguments": "{}"}}, None, {"function": {"name": "f"}}]
    )

    assert [(call.name, call.arguments) for call in joiner.joined()] == [("f", "{}"), ("f", "")]
    assert joiner.faults == []


@given(
    st.lists(st.text(alphabet='{}":,ab\\ ', max_size=12), min_size=1, max_size=5),
    st.data(),
)
def test_a_stream_that_keeps_the_protocol_is_joined_however_it_is_cut(
    arguments: list[str], data: st.DataObject
) -> None:
    deltas = [[entry(i, id=f"c{i}", name="f", arguments="")] for i in range(len(arguments))]
    rest = list(enumerate(arguments))
    while any(text for _, text in rest):
        number = data.draw(st.sampled_from([i for i, (_, text) in enumerate(rest) if text]))
        index, text = rest[number]
        size = data.draw(st.integers(1, len(text)))
        deltas.append([entry(index, arguments=text[:size])])
        rest[number] = (index, text[size:])

    calls, faults = join(*deltas)

    assert calls == [("f", text) for text in arguments]
    assert faults == set()
