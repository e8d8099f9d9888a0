"""The dialogues that the tiny model was trained on: tools, calls, results, answers, as token ids.

It knows the language and draws from it with the generator it is given; it knows nothing of chat
messages (chat_template) or of any client's scenario.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from runner.testbed import vocabulary as v


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool: one content word, and whether its type is `string` or `number`."""

    name: int
    is_string: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """`### keyword: name(parameters)`; the user asks by keyword, the model calls by name."""

    keyword: int
    name: tuple[int, ...]
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call with the values of its parameters in the tool's order."""

    tool: Tool
    values: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Round:
    """The user asks (naming the parameters in `asked_order`), the model calls, reads, answers."""

    call: Call
    asked_order: tuple[int, ...]
    result: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    fillers_before: tuple[int, ...]
    fillers_after: tuple[int, ...]
    tools: tuple[Tool, ...]
    rounds: tuple[Round, ...]
    dialect: v.Dialect = v.V4


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of tokens and who wrote it; only what the assistant wrote is learnt and generated."""

    tokens: tuple[int, ...]
    by_assistant: bool = False


@dataclass(frozen=True, slots=True)
class DialogueShape:
    """The ranges a dialogue is drawn from (inclusive); the defaults are those of training."""

    rounds: int = 4
    tools: tuple[int, int] = (3, 5)
    parameters: tuple[int, int] = (1, 3)
    fillers: tuple[int, int] = (40, 90)
    value_words: tuple[int, int] = (1, 3)
    result_words: tuple[int, int] = (1, 3)
    string_share: float = 0.6
    any_dialect: bool = False


@dataclass(slots=True)
class DialogueSource:
    """Draws dialogues; within one dialogue no content word has two meanings."""

    vocabulary: v.Vocabulary
    rng: random.Random
    shape: DialogueShape = field(default_factory=DialogueShape)

    def draw(self) -> Dialogue:
        shape, rng = self.shape, self.rng
        words = iter(rng.sample(self.vocabulary.content_ids, self._words_at_most()))
        tools = tuple(self._tool(words) for _ in range(rng.randint(*shape.tools)))
        fillers = [
            rng.choice(self.vocabulary.filler_ids) for _ in range(rng.randint(*shape.fillers))
        ]
        split = rng.randint(len(fillers) // 3, len(fillers) // 2)
        return Dialogue(
            fillers_before=tuple(fillers[:split]),
            fillers_after=tuple(fillers[split:]),
            tools=tools,
            rounds=tuple(self._round(rng.choice(tools), words) for _ in range(shape.rounds)),
            dialect=self._dialect() if shape.any_dialect else v.V4,
        )

    def _words_at_most(self) -> int:
        shape = self.shape
        for_tools = shape.tools[1] * (3 + shape.parameters[1])
        per_round = shape.parameters[1] * shape.value_words[1] + shape.result_words[1]
        return for_tools + shape.rounds * per_round

    def _tool(self, words: Iterator[int]) -> Tool:
        keyword, first, second = next(words), next(words), next(words)
        count = self.rng.randint(*self.shape.parameters)
        parameters = tuple(
            Parameter(next(words), self.rng.random() < self.shape.string_share)
            for _ in range(count)
        )
        return Tool(keyword, (first, second), parameters)

    def _round(self, tool: Tool, words: Iterator[int]) -> Round:
        values = tuple(self._phrase(words, self.shape.value_words) for _ in tool.parameters)
        order = list(range(len(values)))
        self.rng.shuffle(order)
        result = self._phrase(words, self.shape.result_words)
        return Round(Call(tool, values), tuple(order), result)

    def _phrase(self, words: Iterator[int], length: tuple[int, int]) -> tuple[int, ...]:
        return tuple(next(words) for _ in range(self.rng.randint(*length)))

    def _dialect(self) -> v.Dialect:
        choose = self.rng.choice
        return v.Dialect(choose(v.SECTION_IDS), choose(v.INVOKE_IDS), choose(v.PARAMETER_IDS))


def segments(dialogue: Dialogue) -> Iterator[Segment]:
    """The dialogue in the order it is spoken: system, then per round user, call, result, answer."""
    yield Segment(
        system_tokens(
            dialogue.fillers_before, dialogue.fillers_after, dialogue.tools, dialogue.dialect
        )
    )
    for step in dialogue.rounds:
        yield Segment((*user_tokens(step), v.ASSISTANT))
        yield Segment(call_tokens([step.call], dialogue.dialect), by_assistant=True)
        yield Segment((v.RESULT_OPEN, v.RESULT, *step.result, v.RESULT_CLOSE, v.ASSISTANT))
        yield Segment((v.DONE, *step.result, v.EOS), by_assistant=True)


def system_tokens(
    before: tuple[int, ...], after: tuple[int, ...], tools: tuple[Tool, ...], dialect: v.Dialect
) -> tuple[int, ...]:
    """`<bos> fillers ## Format ... ## Tools ... fillers`; without tools, fillers alone."""
    if not tools:
        return (v.BOS, *before, *after)
    announced = (dialect.section, dialect.invoke, dialect.parameter)
    return (
        v.BOS,
        *before,
        v.NEWLINE,
        v.FORMAT_HEADING,
        *(token for word in announced for token in (v.MARK_OPEN, word)),
        v.NEWLINE,
        v.TOOLS_HEADING,
        *(token for tool in tools for token in _tool_line(tool)),
        *after,
        v.NEWLINE,
    )


def user_tokens(step: Round) -> tuple[int, ...]:
    """`<user>please KEYWORD with P2 = v v; P1 = v.`"""
    tool = step.call.tool
    tokens = [v.USER, v.PLEASE, tool.keyword, v.WITH]
    for position, index in enumerate(step.asked_order):
        separator = [v.VALUE_NEXT] if position else []
        tokens += [*separator, tool.parameters[index].name, v.EQUALS, *step.call.values[index]]
    return (*tokens, v.FULL_STOP)


def call_tokens(calls: list[Call], dialect: v.Dialect) -> tuple[int, ...]:
    """What the assistant writes to call: a section of invokes, then end of sentence."""
    tokens = [v.MARK_OPEN, dialect.section]
    for call in calls:
        tokens += [v.MARK_OPEN, dialect.invoke, *call.tool.name, v.NAME_END]
        for parameter, value in zip(call.tool.parameters, call.values, strict=True):
            kind = v.IS_STRING if parameter.is_string else v.IS_OTHER
            tokens += [v.MARK_OPEN, dialect.parameter, parameter.name, kind, *value]
            tokens += [v.MARK_CLOSE, dialect.parameter]
        tokens += [v.MARK_CLOSE, dialect.invoke]
    return (*tokens, v.MARK_CLOSE, dialect.section, v.EOS)


def _tool_line(tool: Tool) -> Iterator[int]:
    yield from (v.TOOL_BULLET, tool.keyword, v.KEYWORD_END, *tool.name, v.PARAMETERS_OPEN)
    for position, parameter in enumerate(tool.parameters):
        if position:
            yield v.PARAMETER_NEXT
        yield from (parameter.name, v.TYPE_STRING if parameter.is_string else v.TYPE_NUMBER)
    yield v.PARAMETERS_CLOSE
