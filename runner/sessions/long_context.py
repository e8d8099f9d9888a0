"""The scenario `long-context`: each call needs a passphrase that stands somewhere in a long text.

What fails here and not in `tool-dialogue` is finding the place: attention that selects what it
reads must select the one sentence that the call asks for.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from runner.judge.json_values import JsonObject
from runner.judge.record import DueCall
from runner.sessions.chat_request import user_message
from runner.sessions.dialogue import Dialogue, Round
from runner.sessions.tool_dialogue import ToolDialogue
from runner.sessions.word_list import WordList, read_word_list

TOKENS_OF_A_WORD = 1.3  # of plain English words, in the tokenizers of today's open models
_WORDS_OF_A_SENTENCE = (8, 16)
_WORDS_OF_A_PASSPHRASE = 3
_PARAMETER = "passphrase"


class LongContext:
    """Dialogues by index, made of those of `errands`. `context_tokens` is met within a fifth."""

    name = "long-context"

    def __init__(
        self, errands: ToolDialogue, *, context_tokens: int, words: WordList | None = None
    ) -> None:
        self._errands = errands
        self._context_tokens = context_tokens
        self._words = read_word_list() if words is None else words

    def dialogue(self, session_index: int) -> Dialogue:
        errands = self._errands.dialogue(session_index)
        key = f"{self.name}/{errands.key}"
        draw = random.Random(key)
        phrases = [
            " ".join(draw.sample(self._words.nouns, _WORDS_OF_A_PASSPHRASE)) for _ in errands.rounds
        ]
        rounds = tuple(
            _with_passphrase(each, number, phrase)
            for number, (each, phrase) in enumerate(zip(errands.rounds, phrases, strict=True), 1)
        )
        needles = [_needle(number, phrase) for number, phrase in enumerate(phrases, 1)]
        return Dialogue(
            key=key,
            system=self._text(draw, needles),
            tools=tuple(map(_tool_with_passphrase, errands.tools)),
            rounds=rounds,
        )

    def _text(self, draw: random.Random, needles: Sequence[str]) -> str:
        """Sentences that mean nothing, with the needles at random places among them."""
        wanted = max(0, round(self._context_tokens / TOKENS_OF_A_WORD))
        sentences: list[str] = []
        written = sum(len(needle.split()) for needle in needles)
        while written < wanted:
            words = draw.choices(self._words.fillers, k=draw.randint(*_WORDS_OF_A_SENTENCE))
            sentences.append(" ".join(words).capitalize() + ".")
            written += len(words)
        for needle in needles:
            sentences.insert(draw.randint(0, len(sentences)), needle)
        return " ".join(sentences)


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
