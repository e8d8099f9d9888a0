"""The scenario `long-context`: each call needs a passphrase that stands somewhere in a long text.

What fails here and not in `tool-dialogue` is finding the place: attention that selects what it
reads must select the one sentence that the call asks for.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from runner.judge.json_values import JsonObject, dump_json
from runner.judge.record import DueCall
from runner.sessions.chat_request import user_message
from runner.sessions.dialogue import Dialogue, Round
from runner.sessions.tool_dialogue import ToolDialogue
from runner.sessions.word_list import WordList, read_word_list

# In Mistral's tokenizers of 32,000 and of 131,000 entries, which agree within 3 % on such texts.
TOKENS_OF_A_FILLER = 1.1  # with the full stops
TOKENS_OF_A_WORD = 1.4  # of the sentences that mean something
TOKENS_OF_A_CHARACTER = 0.3  # of the tools, which templates write as JSON

_VERSION = 2  # part of every key: dialogues of another version are other dialogues
_WORDS_OF_A_SENTENCE = (8, 16)
_WORDS_OF_A_PASSPHRASE = 3
_PARAMETER = "passphrase"


class LongContext:
    """Dialogues by index, made of those of `errands`. `context_tokens`: of the first request."""

    name = "long-context"

    def __init__(
        self, errands: ToolDialogue, *, context_tokens: int, words: WordList | None = None
    ) -> None:
        self._errands = errands
        self._context_tokens = context_tokens
        self._words = read_word_list() if words is None else words

    def dialogue(self, session_index: int) -> Dialogue:
        errands = self._errands.dialogue(session_index)
        key = f"{self.name}-{_VERSION}/{errands.key}"
        draw = random.Random(key)
        phrases = [
            " ".join(draw.sample(self._words.nouns, _WORDS_OF_A_PASSPHRASE)) for _ in errands.rounds
        ]
        rounds = tuple(
            _with_passphrase(each, number, phrase)
            for number, (each, phrase) in enumerate(zip(errands.rounds, phrases, strict=True), 1)
        )
        needles = [_needle(number, phrase) for number, phrase in enumerate(phrases, 1)]
        tools = tuple(map(_tool_with_passphrase, errands.tools))
        beside = estimated_tokens(tools, [*needles, str(rounds[0].steps[0].say[0]["content"])])
        return Dialogue(
            key=key,
            system=self._text(draw, needles, tokens=self._context_tokens - beside),
            tools=tools,
            rounds=rounds,
        )

    def _text(self, draw: random.Random, needles: Sequence[str], *, tokens: float) -> str:
        """Sentences that mean nothing, so many tokens of them, and the needles at random places."""
        wanted = max(0, round(tokens / TOKENS_OF_A_FILLER))
        sentences: list[str] = []
        written = 0
        while written < wanted:
            words = draw.choices(self._words.fillers, k=draw.randint(*_WORDS_OF_A_SENTENCE))
            sentences.append(" ".join(words).capitalize() + ".")
            written += len(words)
        for needle in needles:
            sentences.insert(draw.randint(0, len(sentences)), needle)
        return " ".join(sentences)


def estimated_tokens(tools: Sequence[JsonObject], sentences: Sequence[str]) -> float:
    """Of a request but for its fillers and what the template adds to it."""
    words = sum(len(each.split()) for each in sentences)
    return len(dump_json(list(tools))) * TOKENS_OF_A_CHARACTER + words * TOKENS_OF_A_WORD


def _needle(number: int, phrase: str) -> str:
    return f"The passphrase of errand {number} is {phrase}."


def _with_passphrase(errand: Round, number: int, phrase: str) -> Round:
    call, answer = errand.steps
    assert isinstance(call.due, DueCall)
    (asked,) = call.say
    wish = str(asked["content"]).removesuffix(".")
    said = f"{wish}; {_PARAMETER} = the passphrase of errand {number}, as the text above gives it."
    due = DueCall(call.due.name, {**call.due.arguments, _PARAMETER: phrase})
    return Round((replace(call, say=(user_message(said),), due=due), answer))


def _tool_with_passphrase(tool: JsonObject) -> JsonObject:
    function = tool["function"]
    assert isinstance(function, dict)
    parameters = function["parameters"]
    assert isinstance(parameters, dict)
    properties, required = parameters["properties"], parameters["required"]
    assert isinstance(properties, dict) and isinstance(required, list)
    widened: JsonObject = {
        **parameters,
        "properties": {**properties, _PARAMETER: {"type": "string"}},
        "required": [*required, _PARAMETER],
    }
    return {**tool, "function": {**function, "parameters": widened}}
