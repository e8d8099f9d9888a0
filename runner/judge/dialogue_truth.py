"""What only the dialogue can know: whether a readable turn says what it had to say.

Compares with the due call or answer and with the canaries; knows nothing of streams or markup.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runner.judge.assembled_message import AssembledMessage
from runner.judge.call_checks import CheckedCall
from runner.judge.flags import Flag
from runner.judge.json_values import Json, parse_json, texts_in
from runner.judge.record import DueAnswer, DueCall, TurnContext

_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class DialogueFindings:
    """`is_wrong`: the dialogue proves the turn wrong. `sentence` says how, for people."""

    flags: tuple[Flag, ...] = ()
    is_wrong: bool = False
    sentence: str = ""


RIGHT: Final = DialogueFindings()


def compare_with_due(
    message: AssembledMessage, calls: Sequence[CheckedCall], context: TurnContext
) -> DialogueFindings:
    """For a turn that ended whole and whose calls, if any, are usable."""
    match context.due:
        case DueCall() as due if calls:
            return _compare_call(calls, due)
        case DueAnswer() as due:
            if calls:
                sentence = f"{calls[0].call.name} was called instead"
                return DialogueFindings((Flag.UNASKED_CALL,), True, sentence)
            return _compare_answer(message.content, due)
        case _:
            return RIGHT


def foreign_canaries(
    message: AssembledMessage, calls: Sequence[CheckedCall], context: TurnContext
) -> DialogueFindings:
    """Another session's text in this answer; text that this conversation holds is not foreign."""
    if not context.other_canaries:
        return RIGHT
    texts = _texts_of(message, calls)
    own = [context.user, context.canary or "", *(item.text for item in context.prior)]
    for canary in context.other_canaries:
        is_own = any(canary in text for text in own)
        if canary and not is_own and any(canary in text for text in texts):
            sentence = f"the answer holds {canary[:80]!r}, which belongs to another session"
            return DialogueFindings((Flag.FOREIGN_CANARY,), True, sentence)
    return RIGHT


def echo_of_canary(
    message: AssembledMessage, calls: Sequence[CheckedCall], context: TurnContext
) -> DialogueFindings:
    """Whether the text that had to come back verbatim did, in the calls or in the answer."""
    canary = context.canary
    if not canary or any(canary in text for text in _texts_of(message, calls, visible=True)):
        return RIGHT
    sentence = f"{canary[:80]!r} had to come back verbatim and did not"
    return DialogueFindings((Flag.ECHO_MISMATCH,), True, sentence)


def repeats_last_call(calls: Sequence[CheckedCall], context: TurnContext) -> bool:
    """Whether the turn makes the call that the dialogue made just before."""
    made = [call for item in context.prior for call in item.calls]
    if not made:
        return False
    name, arguments = made[-1]
    return any(
        checked.call.name == name and checked.arguments == parse_json(arguments or "{}")
        for checked in calls
    )


def _compare_call(calls: Sequence[CheckedCall], due: DueCall) -> DialogueFindings:
    first = calls[0]
    if first.call.name != due.name:
        sentence = f"{first.call.name} was called instead"
        return DialogueFindings((Flag.WRONG_TOOL,), True, sentence)
    differing = _differing_arguments(first.arguments or {}, due)
    if differing:
        sentence = f"it was called with other values of {', '.join(differing)}"
        return DialogueFindings((Flag.WRONG_ARGUMENTS, Flag.ECHO_MISMATCH), True, sentence)
    for other in calls[1:]:
        if other.call.name != due.name or _differing_arguments(other.arguments or {}, due):
            sentence = f"besides, {other.call.name} was called, which was not due"
            return DialogueFindings((Flag.EXTRA_CALL,), True, sentence)
    return DialogueFindings((Flag.EXTRA_CALL,)) if len(calls) > 1 else RIGHT


def _differing_arguments(arguments: dict[str, Json], due: DueCall) -> list[str]:
    names = dict.fromkeys((*due.arguments, *arguments))
    return [
        name
        for name in names
        if name not in arguments
        or name not in due.arguments
        or not _is_same(arguments[name], due.arguments[name])
    ]


def _is_same(got: Json, due: Json) -> bool:
    """Equal values; white space at the ends and a number sent as text make no difference."""
    if isinstance(got, bool) or isinstance(due, bool):
        return got is due
    if isinstance(got, str) and isinstance(due, str):
        return _normal(got) == _normal(due)
    if isinstance(got, str) != isinstance(due, str):
        scalars = (str, int, float)
        return isinstance(got, scalars) and isinstance(due, scalars) and str(got) == str(due)
    return got == due


def _compare_answer(content: str, due: DueAnswer) -> DialogueFindings:
    said = _normal(content)
    lacking = [text for text in due.must_contain if _normal(text) not in said]
    if not lacking:
        return RIGHT
    sentence = f"the answer lacks {lacking[0][:120]!r}"
    return DialogueFindings((Flag.WRONG_ANSWER,), True, sentence)


def _texts_of(
    message: AssembledMessage, calls: Sequence[CheckedCall], *, visible: bool = False
) -> list[str]:
    texts = [message.content] if visible else [message.content, message.reasoning, message.refusal]
    for checked in calls:
        texts.append(checked.call.arguments)
        texts += texts_in(checked.arguments)
    return texts


def _normal(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
