"""Where two transcripts of one dialogue part: the turn, the field, the character; pure.

Answers are compared as the client reassembled them. Where one side has a structured call and the
other has text, the server's parser stands between what the model wrote and what came, so that the
place is known by field, and by token only where the answers carry their tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

from db.reads.sessions import TurnFacts
from runner.difference.markup_break import MarkupBreak, markup_break
from runner.difference.transcript import (
    AnswerField,
    answer_of,
    asked_of,
    cached_by_source,
    calls_of,
    is_silent,
)

_SHOWN_BEFORE = 60
_SHOWN_AFTER = 120
_NOTHING = AnswerField("nothing", "")


class Parting(StrEnum):
    """What came apart."""

    REQUEST = "request"  # the two sides were asked something else
    ANSWER = "answer"  # asked alike, answered otherwise
    SILENCE = "silence"  # one side has no whole answer, and what it has agrees
    LENGTH = "length"  # one session has no such turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSide:
    """One side of the turn at which they part. `cached` maps the source to prompt tokens."""

    session_id: int
    turn_id: int
    reading: str
    outcome: str | None
    reason: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached: dict[str, int]
    text: str  # what came from the place of parting on, cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """`turn_index` counts from zero. `character` and `token`: so many of them both sides have.

    `field` names the part of the answer, of both sides where they differ in it; None where the
    answers were not reached. `a` or `b` is None where that side has no such turn. `markup`: where
    the text of one side stops being the call that the other side made.
    """

    parting: Parting
    turn_index: int
    round_index: int
    field: str | None
    character: int
    token: int | None
    before: str
    a: TurnSide | None
    b: TurnSide | None
    markup: MarkupBreak | None = None

    @property
    def context_tokens(self) -> tuple[int, int] | None:
        """Least and most tokens of context that stood before the place; None: not known."""
        sides = [side for side in (self.a, self.b) if side is not None]
        prompts = {side.prompt_tokens for side in sides if side.prompt_tokens is not None}
        if len(prompts) != 1:
            return None
        (prompt,) = prompts
        if self.token is not None:
            return prompt + self.token, prompt + self.token
        written = [each.completion_tokens for each in sides if each.completion_tokens is not None]
        return prompt, prompt + min(written, default=0)


class _Place(NamedTuple):
    field: str
    character: int
    is_first: bool
    a: AnswerField
    b: AnswerField


def first_divergence(a: Sequence[TurnFacts], b: Sequence[TurnFacts]) -> Divergence | None:
    """The first turn in which two transcripts differ; None where they do not.

    Turns are paired by their place. A difference of times, ids or tokens counted is none.
    """
    for first, second in zip_longest(a, b):
        if first is None or second is None:
            return _without_twin(first, second)
        found = _between(first, second)
        if found is not None:
            return found
    return None


def with_tokens(
    found: Divergence, a_tokens: Sequence[str] | None, b_tokens: Sequence[str] | None
) -> Divergence:
    """The place counted in tokens, where both answers carry theirs."""
    if not a_tokens or not b_tokens or found.parting is not Parting.ANSWER:
        return found
    return replace(found, token=_common(a_tokens, b_tokens))


def _without_twin(a: TurnFacts | None, b: TurnFacts | None) -> Divergence:
    turn = a or b
    assert turn is not None
    return Divergence(
        parting=Parting.LENGTH,
        turn_index=turn.turn_index,
        round_index=turn.round_index,
        field=None,
        character=0,
        token=None,
        before="",
        a=None if a is None else _side(a, asked_of(a)),
        b=None if b is None else _side(b, asked_of(b)),
    )


def _between(a: TurnFacts, b: TurnFacts) -> Divergence | None:
    first, second = asked_of(a), asked_of(b)
    if first != second:
        return _divergence(Parting.REQUEST, a, b, None, first, second, _common(first, second))
    place = _place(answer_of(a), answer_of(b))
    if place is None:
        if is_silent(a) == is_silent(b):
            return None
        return _divergence(Parting.SILENCE, a, b, None, "", "", 0)
    cut = any(
        is_silent(turn) and place.character == len(field.text)
        for turn, field in ((a, place.a), (b, place.b))
    )
    found = _divergence(
        Parting.SILENCE if cut else Parting.ANSWER,
        a,
        b,
        place.field,
        place.a.text,
        place.b.text,
        place.character,
    )
    found = replace(found, markup=_markup(place, a, b))
    # Nothing of either answer agrees, and both are plain text: no token does.
    is_at_start = place.is_first and place.character == 0 and place.a.name == place.b.name
    return replace(found, token=0) if is_at_start and place.a.name == "content" else found


def _place(a: Sequence[AnswerField], b: Sequence[AnswerField]) -> _Place | None:
    for number, (first, second) in enumerate(zip_longest(a, b, fillvalue=_NOTHING)):
        is_first = number == 0
        if first.name != second.name:
            return _Place(f"{first.name} / {second.name}", 0, is_first, first, second)
        if first.text != second.text:
            common = _common(first.text, second.text)
            return _Place(first.name, common, is_first, first, second)
    return None


def _markup(place: _Place, a: TurnFacts, b: TurnFacts) -> MarkupBreak | None:
    """Only where one side has text and the other a call in its place."""
    for text, call, turn in ((place.a, place.b, b), (place.b, place.a, a)):
        calls = calls_of(turn)
        if text.name in ("content", "reasoning") and call.name == "call 1" and calls:
            return markup_break(text.text, calls[0].name, calls[0].arguments)
    return None


def _divergence(
    parting: Parting,
    a: TurnFacts,
    b: TurnFacts,
    field: str | None,
    a_text: str,
    b_text: str,
    common: int,
) -> Divergence:
    return Divergence(
        parting=parting,
        turn_index=a.turn_index,
        round_index=a.round_index,
        field=field,
        character=common,
        token=None,
        before=a_text[max(0, common - _SHOWN_BEFORE) : common],
        a=_side(a, a_text[common:]),
        b=_side(b, b_text[common:]),
    )


def _side(turn: TurnFacts, text: str) -> TurnSide:
    return TurnSide(
        session_id=turn.session_id,
        turn_id=turn.id,
        reading=turn.reading,
        outcome=turn.outcome,
        reason=turn.reason,
        finish_reason=turn.finish_reason,
        prompt_tokens=turn.prompt_tokens,
        completion_tokens=turn.completion_tokens,
        cached=cached_by_source(turn),
        text=text[:_SHOWN_AFTER],
    )


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many items from the start on are the same."""
    for number, (first, second) in enumerate(zip(a, b, strict=False)):
        if first != second:
            return number
    return min(len(a), len(b))
