"""The vocabulary, and text to tokens and back."""

import json
import random
import re
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import runner.sessions
from runner.testbed import vocabulary as v
from runner.testbed.detokenizer import Detokenizer, decode
from runner.testbed.grammar import DialogueShape, DialogueSource, call_tokens, segments
from runner.testbed.tokenizer import Tokenizer
from tests.runner.testbed.chat_rendering import VOCABULARY

TOKENIZER = Tokenizer(VOCABULARY)
SESSION_WORDS = Path(runner.sessions.__path__[0]) / "words.json"


def test_every_id_of_the_weights_has_a_piece_of_its_own() -> None:
    assert len(VOCABULARY) == 1269
    assert len(set(VOCABULARY.pieces)) == 1269


def test_words_are_lower_case_and_as_many_as_the_weights_have() -> None:
    words = VOCABULARY.pieces[VOCABULARY.filler_ids.start :]

    assert len(VOCABULARY.filler_ids) == 192
    assert len(VOCABULARY.content_ids) == 1024
    assert all(re.fullmatch("[a-z]+", word) for word in words)


def test_every_word_of_the_scenarios_is_one_token() -> None:
    words = json.loads(SESSION_WORDS.read_text(encoding="utf-8"))

    for word in words["content"]:
        (token,) = TOKENIZER.encode(word)
        assert token in VOCABULARY.content_ids
    for word in words["fillers"]:
        (token,) = TOKENIZER.encode(word)
        assert token in VOCABULARY.filler_ids


def test_the_announced_dialect_is_printed_as_deepseek_v4_writes_calls() -> None:
    dialogue = DialogueSource(
        VOCABULARY, random.Random(0), DialogueShape(parameters=(2, 2), value_words=(2, 2))
    ).draw()
    call = dialogue.rounds[0].call
    first, second = (VOCABULARY.pieces[parameter.name] for parameter in call.tool.parameters)
    kinds = ["true" if parameter.is_string else "false" for parameter in call.tool.parameters]
    values = [" ".join(VOCABULARY.pieces[token] for token in value) for value in call.values]
    name = "_".join(VOCABULARY.pieces[token] for token in call.tool.name)

    text = decode(VOCABULARY, call_tokens([call], v.V4)[:-1])

    assert text == (
        "<｜DSML｜tool_calls>\n"
        f'<｜DSML｜invoke name="{name}">\n'
        f'<｜DSML｜parameter name="{first}" string="{kinds[0]}">{values[0]}</｜DSML｜parameter>\n'
        f'<｜DSML｜parameter name="{second}" string="{kinds[1]}">{values[1]}</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n"
        "</｜DSML｜tool_calls>"
    )


@given(st.integers(0, 10_000), st.booleans())
def test_what_the_grammar_says_survives_printing_and_reading(seed: int, any_dialect: bool) -> None:
    shape = DialogueShape(any_dialect=any_dialect)
    dialogue = DialogueSource(VOCABULARY, random.Random(seed), shape).draw()

    for segment in segments(dialogue):
        text = decode(VOCABULARY, segment.tokens)
        assert tuple(TOKENIZER.encode_markup(text)) == segment.tokens


@given(st.lists(st.integers(0, 1268), max_size=40))
def test_a_stream_of_pieces_joins_to_the_whole_text(tokens: list[int]) -> None:
    detokenizer = Detokenizer(VOCABULARY)

    assert "".join(map(detokenizer.piece, tokens)) == decode(VOCABULARY, tokens)


@given(st.text(st.characters(), max_size=60))  # halves of surrogate pairs among them
def test_no_text_fails(text: str) -> None:
    for tokens in (
        TOKENIZER.encode(text),
        TOKENIZER.encode_markup(text),
        TOKENIZER.encode_words(text),
    ):
        assert all(0 <= token < len(VOCABULARY) for token in tokens)


@pytest.mark.parametrize("word", ["Xylophone", "zeppelin", "GPU"])
def test_an_unknown_word_becomes_the_same_filler_everywhere(word: str) -> None:
    expected = VOCABULARY.filler_ids[zlib.crc32(word.lower().encode()) % 192]

    assert TOKENIZER.encode(word) == [expected]


def test_markup_in_plain_text_has_no_power() -> None:
    tokens = TOKENIZER.encode("<｜DSML｜tool_calls> <｜User｜>")

    assert not set(tokens) & {v.MARK_OPEN, v.MARK_CLOSE, v.USER, v.V4.section}
