"""Reads one answer: what it was by itself, and what it proves about its session.

A pure function of the record. Corruption that the bytes prove stands, also where the answer was
cut afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from db.vocabulary import ErrorReason, Outcome, TurnReading
from runner.judge.argument_markup import argument_markup
from runner.judge.assembled_message import AssembledMessage
from runner.judge.call_checks import CheckedCall, check_call
from runner.judge.dialogue_truth import (
    RIGHT,
    DialogueFindings,
    compare_with_due,
    echo_of_canary,
    foreign_canaries,
    repeats_last_call,
)
from runner.judge.flags import Flag
from runner.judge.json_values import whole_characters
from runner.judge.markup_catalogue import CATALOGUE, families_for_model, is_family_of
from runner.judge.markup_findings import content_markup, reasoning_markup
from runner.judge.markup_spans import MarkupFindings, MarkupQuestion, MarkupSpan
from runner.judge.markup_topic import Conversation
from runner.judge.record import NAMED_FUNCTION, DueAnswer, DueCall, TurnContext, TurnRecord
from runner.judge.text_quality import TextQuality, judge_text
from runner.judge.turn_body import BodyForm, TurnBody, read_body
from runner.judge.turn_end import TurnEnd, read_end

_CALL_FINISHES: Final = frozenset({"tool_calls", "function_call", "tool_call"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTurn:
    """`outcome` is what this turn proves about its session; None: clean, the session goes on.

    `detail` says in one sentence what was due and what came. Times are seconds since the request.
    """

    reading: TurnReading
    outcome: Outcome | None
    reason: ErrorReason | None
    flags: tuple[str, ...]
    detail: str
    message: AssembledMessage
    markup: tuple[MarkupSpan, ...]
    first_token_s: float | None
    last_progress_s: float | None


def judge_turn(record: TurnRecord, context: TurnContext) -> JudgedTurn:
    """Never raises, whatever the server sent."""
    body = read_body(record)
    findings = _find(body, read_end(record, body), context)
    reading = _reading(findings)
    outcome = _outcome(reading, findings)
    return JudgedTurn(
        reading=reading,
        outcome=outcome,
        reason=findings.end.reason if outcome is Outcome.ERROR else None,
        flags=tuple(dict.fromkeys(str(flag) for flag in _flags(reading, findings, record))),
        detail=whole_characters(_detail(reading, outcome, findings)),
        message=body.message,
        markup=findings.spans,
        first_token_s=body.first_token_s,
        last_progress_s=body.last_progress_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    context: TurnContext
    body: TurnBody
    end: TurnEnd
    calls: tuple[CheckedCall, ...]
    content: MarkupFindings
    reasoning: MarkupFindings
    arguments: tuple[MarkupFindings, ...]
    quality: TextQuality
    truth: DialogueFindings
    """What the due call or answer and this session's canary say of a whole turn."""
    foreign: DialogueFindings

    @property
    def message(self) -> AssembledMessage:
        return self.body.message

    @property
    def spans(self) -> tuple[MarkupSpan, ...]:
        of_arguments = [span for found in self.arguments for span in found.spans]
        return (*self.content.spans, *self.reasoning.spans, *of_arguments)

    @property
    def leaks(self) -> bool:
        return bool(self.content.spans or self.reasoning.spans)

    @property
    def calls_are_usable(self) -> bool:
        is_drifting = Flag.INDEX_DRIFT in self.message.faults
        has_markup = any(found.spans for found in self.arguments)
        return not (is_drifting or has_markup) and all(call.is_usable for call in self.calls)


def _find(body: TurnBody, end: TurnEnd, context: TurnContext) -> _Findings:
    message = body.message
    conversation = Conversation(context)
    calls = tuple(check_call(call, context.tools) for call in message.tool_calls)
    question = MarkupQuestion(
        tools=context.tools,
        families=families_for_model(context.model),
        conversation=conversation,
        call_is_missing=context.tool_expected and not calls,
        content_is_blank=not message.content.strip(),
    )
    is_whole = end.reason is None
    is_usable = all(call.is_usable for call in calls)
    truth = compare_with_due(message, calls, context) if is_whole and is_usable else RIGHT
    if truth is RIGHT and is_whole and (calls or not context.tool_expected):
        truth = echo_of_canary(message, calls, context)
    return _Findings(
        context=context,
        body=body,
        end=end,
        calls=calls,
        content=content_markup(message.content, question),
        reasoning=reasoning_markup(message.reasoning, question),
        arguments=tuple(
            argument_markup(checked.call.arguments, number, question)
            for number, checked in enumerate(calls)
        ),
        quality=judge_text(message, conversation),
        truth=truth,
        foreign=foreign_canaries(message, calls, context),
    )


def _reading(found: _Findings) -> TurnReading:
    if found.end.reason is not None:
        if found.leaks and not found.calls:
            return TurnReading.LEAK
        if any(arguments.spans for arguments in found.arguments):
            return TurnReading.MALFORMED
        return TurnReading.WEDGE if found.end.is_wedge else TurnReading.ERROR
    if found.calls:
        return TurnReading.TOOL if found.calls_are_usable else TurnReading.MALFORMED
    if found.leaks:
        return TurnReading.LEAK
    return TurnReading.NO_TOOL if found.context.tool_expected else TurnReading.DONE


def _outcome(reading: TurnReading, found: _Findings) -> Outcome | None:
    is_degenerate = found.quality.is_garbled or found.quality.is_swallowed
    match reading:
        case TurnReading.LEAK:
            return Outcome.LEAK
        case TurnReading.MALFORMED:
            return Outcome.MALFORMED
        case TurnReading.NO_TOOL:
            if found.foreign.is_wrong:
                return Outcome.NO_TOOL
            return Outcome.DEGENERATE if is_degenerate else Outcome.NO_TOOL
        case TurnReading.ERROR | TurnReading.WEDGE:
            if found.foreign.is_wrong:
                return Outcome.WRONG
            return Outcome.DEGENERATE if found.quality.is_loop else Outcome.ERROR
        case TurnReading.TOOL:
            is_wrong = found.truth.is_wrong or found.foreign.is_wrong
            return Outcome.WRONG if is_wrong else None
        case TurnReading.DONE:
            if found.foreign.is_wrong:
                return Outcome.WRONG
            if is_degenerate:
                return Outcome.DEGENERATE
            return Outcome.WRONG if found.truth.is_wrong else None


def _flags(reading: TurnReading, found: _Findings, record: TurnRecord) -> list[Flag]:
    flags = [*found.end.flags, *found.message.faults]
    for checked in found.calls:
        flags += checked.flags
    flags += _markup_flags(reading, found)
    flags += [*found.quality.flags, *found.truth.flags, *found.foreign.flags]
    if found.calls and not found.context.tool_expected:
        flags.append(Flag.UNASKED_CALL)
    if repeats_last_call(found.calls, found.context):
        flags.append(Flag.REPEATED_CALL)
    finishes = {reason.lower() for reason in found.message.finish_reasons}
    claims_call = bool(finishes & _CALL_FINISHES)
    is_whole = found.end.reason is None and bool(finishes) and Flag.LENGTH not in flags
    # OpenAI's own servers, and vLLM's, end the call of a function that the request names with stop.
    may_stop = found.context.tool_choice == NAMED_FUNCTION and bool(found.calls)
    if is_whole and claims_call is not bool(found.calls) and not may_stop:
        flags.append(Flag.FINISH_MISMATCH)
    if record.was_resent:
        flags.append(Flag.RESENT)
    if record.stream and found.body.form is BodyForm.JSON and found.message.has_choices:
        flags.append(Flag.NOT_STREAMED)
    return flags


def _markup_flags(reading: TurnReading, found: _Findings) -> list[Flag]:
    flags: list[Flag] = []
    fields = (found.content, found.reasoning, *found.arguments)
    if reading is TurnReading.TOOL and found.leaks:
        flags.append(Flag.MARKUP_RESIDUE)
    if reading is not TurnReading.TOOL:
        if found.content.spans:
            flags.append(Flag.MARKUP_IN_CONTENT)
        if found.reasoning.spans:
            flags.append(Flag.MARKUP_IN_REASONING)
    if any(arguments.spans for arguments in found.arguments):
        flags.append(Flag.MARKUP_IN_ARGS)
    if any(field.has_quoted for field in fields):
        flags.append(Flag.MARKUP_QUOTED)
    if any(field.has_template_tokens for field in fields):
        flags.append(Flag.TEMPLATE_RESIDUE)
    if found.context.model and found.spans and _are_foreign(found.spans, found.context.model):
        flags.append(Flag.FOREIGN_MARKUP)
    return flags


def _are_foreign(spans: Sequence[MarkupSpan], model: str) -> bool:
    """Whether none of the markup is of the served model's own families, where those are known."""
    own = {family.id for family in CATALOGUE if is_family_of(family, model)}
    return bool(own) and not any(span.family in own for span in spans)


def _detail(reading: TurnReading, outcome: Outcome | None, found: _Findings) -> str:
    due, came = _due_phrase(found.context), _came_phrase(reading, outcome, found)
    return f"{due}; {came}." if due else f"{came[:1].upper()}{came[1:]}."


def _due_phrase(context: TurnContext) -> str:
    match context.due:
        case DueCall(name):
            return f"A call of {name} was due"
        case DueAnswer(must_contain):
            return f"An answer with {must_contain[0][:80]!r} was due" if must_contain else ""
        case _:
            return "A call was due" if context.tool_expected else ""


def _came_phrase(reading: TurnReading, outcome: Outcome | None, found: _Findings) -> str:
    if found.foreign.is_wrong:
        return found.foreign.sentence
    match reading:
        case TurnReading.LEAK:
            span = found.spans[0]
            return f"{span.field} holds raw markup of the family {span.family} at {span.start}"
        case TurnReading.MALFORMED:
            return _malformed_phrase(found)
        case TurnReading.ERROR | TurnReading.WEDGE:
            looped = ", after the text had fallen into a loop" if found.quality.is_loop else ""
            return found.end.sentence + looped
        case TurnReading.NO_TOOL | TurnReading.DONE if outcome is Outcome.DEGENERATE:
            return found.quality.sentence
        case TurnReading.NO_TOOL:
            text = found.message.content.strip()
            return f"no call came, but {text[:80]!r}" if text else "no call and no text came"
        case _:
            if outcome is Outcome.WRONG:
                return found.truth.sentence
            if found.calls:
                names = [checked.call.name for checked in found.calls]
                verb = "was" if len(names) == 1 else "were"
                return f"{' and '.join(names)} {verb} called"
            return "an answer came"


def _malformed_phrase(found: _Findings) -> str:
    for checked in found.calls:
        if not checked.is_usable:
            return f"the call of {checked.call.name[:80]!r} cannot be used: {checked.problem}"
    for number, arguments in enumerate(found.arguments):
        if arguments.spans:
            name, family = found.calls[number].call.name, arguments.spans[0].family
            return f"the arguments of {name} hold raw markup of the family {family}"
    return "the pieces of a call came under indices that do not belong together"
