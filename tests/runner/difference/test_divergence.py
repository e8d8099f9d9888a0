"""Where two transcripts part: turn, field, character, token, and what stood before."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.difference.divergence import Divergence, Parting, first_divergence, with_tokens
from runner.difference.divergence_words import divergence_lines
from runner.difference.markup_break import MarkupPlace
from tests.runner.difference.turns import LEAKED, turn

texts = st.lists(st.text(max_size=20), min_size=1, max_size=4)


def found_in(a: str, b: str) -> Divergence:
    found = first_divergence([turn(0, a)], [turn(0, b)])
    assert found is not None
    return found


@given(texts)
def test_a_transcript_does_not_part_from_itself(contents: list[str]) -> None:
    turns = [turn(index, content) for index, content in enumerate(contents)]

    assert first_divergence(turns, turns) is None


@given(texts, texts)
def test_both_directions_part_at_one_place(first: list[str], second: list[str]) -> None:
    a = [turn(index, content) for index, content in enumerate(first)]
    b = [turn(index, content) for index, content in enumerate(second)]

    there, back = first_divergence(a, b), first_divergence(b, a)

    if there is None or back is None:
        assert there is back
    else:
        assert (there.parting, there.turn_index, there.character) == (
            back.parting,
            back.turn_index,
            back.character,
        )


@given(st.text(max_size=30), st.text(min_size=1, max_size=10), st.text(min_size=1, max_size=10))
def test_the_place_is_the_first_character_that_differs(head: str, a: str, b: str) -> None:
    a, b = "a" + a, "b" + b

    found = found_in(head + a, head + b)

    assert found.character == len(head)
    assert head.endswith(found.before)
    assert found.a is not None and found.a.text == a
    assert found.b is not None and found.b.text == b


def test_the_ids_of_calls_and_the_times_are_no_difference() -> None:
    a = turn(0, call=("look_sky", "{}"), request_id="x", duration_s=9.0, id=5)
    b = turn(0, call=("look_sky", "{}"), request_id="y")

    assert first_divergence([replace(a, got={**a.got, "id": "other"})], [b]) is None


def test_a_call_that_came_as_text_is_told_with_where_it_stops_being_the_call() -> None:
    leaked = LEAKED.replace("look_sky", "look_moon")

    found = first_divergence(
        [turn(0, leaked, outcome="leak")], [turn(0, call=("look_sky", '{"city": "oslo"}'))]
    )

    assert found is not None and found.markup is not None
    assert (found.field, found.character, found.token) == ("content / call 1", 0, None)
    assert found.markup.place is MarkupPlace.FUNCTION_NAME
    assert leaked[: found.markup.character].endswith('name="')


def test_another_request_is_told_apart_from_another_answer() -> None:
    found = first_divergence([turn(0, "a", user="one")], [turn(0, "b", user="two")])

    assert found is not None and found.parting is Parting.REQUEST
    assert "asked otherwise" in divergence_lines(found)[0]


def test_a_cut_answer_that_agrees_so_far_is_silence_and_no_other_answer() -> None:
    whole = turn(0, "the sky is blue")
    cut = turn(0, "the sky", outcome="error", reason="stalled")

    found = first_divergence([whole], [cut])

    assert found is not None and (found.parting, found.character) == (Parting.SILENCE, 7)
    assert "B has no whole answer" in divergence_lines(found)[0]


def test_a_session_that_ended_earlier_parts_where_it_ended() -> None:
    found = first_divergence([turn(0, "a"), turn(1, "b")], [turn(0, "a")])

    assert found is not None and (found.parting, found.turn_index) == (Parting.LENGTH, 1)
    assert "which B did not play" in divergence_lines(found)[0]


@pytest.mark.parametrize(
    ("token", "context"), [(None, (100, 110)), (3, (103, 103))], ids=["unknown", "known"]
)
def test_the_depth_in_the_context_is_a_range_where_the_token_is_unknown(
    token: int | None, context: tuple[int, int]
) -> None:
    found = replace(found_in("the sky is", "the sea is"), token=token)

    assert found.context_tokens == context


def test_tokens_are_counted_where_both_answers_carry_them() -> None:
    found = found_in("the sky", "the sea")

    counted = with_tokens(found, ["the", " s", "ky"], ["the", " s", "ea"])

    assert counted.token == 2
    assert with_tokens(found, None, ["the"]).token is None


def test_what_a_terminal_would_obey_is_written_out() -> None:
    lines = divergence_lines(found_in("\x1b[2Jwiped", "clean"))

    assert "\x1b" not in "".join(lines)
    assert "\\x1b[2Jwiped" in lines[1]
