"""The scenario `tool-dialogue`: errands whose right call and right answer are known beforehand.

Each session gets invented tools, values and results, so that a right turn can only come from its
own context: no word of the dialogue is used twice in it, and a value that comes back is a canary.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from runner.errors import ConfigError
from runner.judge.json_values import JsonObject
from runner.judge.record import DueAnswer, DueCall
from runner.sessions.chat_request import user_message
from runner.sessions.dialogue import Dialogue, Round, Step
from runner.sessions.word_list import WordList, read_word_list

_NAME = "tool-dialogue"
_VERSION = 2  # part of every key: dialogues of another version are other dialogues
_FEWEST_FILLERS = 40
TOOLS_OF_A_DIALOGUE = (3, 5)
"""At least and at most, where no number is given."""
_PARAMETERS = (1, 3)
_WORDS_OF_A_VALUE = (1, 3)
_NOUNS_OF_A_ROUND = (_PARAMETERS[1] + 1) * _WORDS_OF_A_VALUE[1]
_NOUNS_OF_A_TOOL = 1 + _PARAMETERS[1]
_VERBS_OF_A_TOOL = 2


class ToolDialogue:
    """Dialogues by index. `context_tokens` sizes the first prompt; 0 asks for the smallest.

    `tools`: how many each dialogue offers; None: 3 to 5, by the dialogue.
    """

    name = _NAME

    def __init__(
        self,
        *,
        seed: int,
        rounds: int,
        context_tokens: int,
        tools: int | None = None,
        words: WordList | None = None,
    ) -> None:
        self._seed = seed
        self._rounds = rounds
        self._context_tokens = context_tokens
        self._tools = tools
        self._words = read_word_list() if words is None else words
        _require_enough_words(self._words, rounds, tools=tools or TOOLS_OF_A_DIALOGUE[1])

    def dialogue(self, session_index: int) -> Dialogue:
        of_tools = "" if self._tools is None else f"/{self._tools} tools"
        key = f"{_NAME}-{_VERSION}/{self._seed}{of_tools}/{session_index}"
        draw = random.Random(key)
        most_tools = self._tools or TOOLS_OF_A_DIALOGUE[1]
        words = _Draws(draw, self._words, tools=most_tools, rounds=self._rounds)
        number = draw.randint(*TOOLS_OF_A_DIALOGUE) if self._tools is None else self._tools
        tools = [_invent_tool(words) for _ in range(number)]
        rounds = tuple(_invent_round(words, draw.choice(tools)) for _ in range(self._rounds))
        return Dialogue(
            key=key,
            system=self._system_text(key, tools, rounds[0]),
            tools=tuple(tool.definition() for tool in tools),
            rounds=rounds,
        )

    def _system_text(self, key: str, tools: Sequence["_Tool"], first: Round) -> str:
        """Two paragraphs of fillers, of which the testbed puts the second one behind the tools.

        Their own random numbers keep the errands equal at every context size.
        """
        draw = random.Random(f"{key}/fillers")
        count = max(_FEWEST_FILLERS, self._context_tokens - _tokens_without_fillers(tools, first))
        fillers = draw.choices(self._words.fillers, k=count)
        split = draw.randint(count // 3, count // 2)
        return " ".join(fillers[:split]) + "\n\n" + " ".join(fillers[split:])


@dataclass(frozen=True, slots=True)
class _Tool:
    keyword: str
    name: str
    parameters: tuple[str, ...]

    def definition(self) -> JsonObject:
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": f"Call this to {self.keyword}.",
                "parameters": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in self.parameters},
                    "required": list(self.parameters),
                },
            },
        }


class _Draws:
    """The words of one session, none of them twice: as many as it can come to need."""

    def __init__(self, draw: random.Random, words: WordList, *, tools: int, rounds: int) -> None:
        self._draw = draw
        self._verbs = iter(draw.sample(words.verbs, tools * _VERBS_OF_A_TOOL))
        self._nouns = iter(draw.sample(words.nouns, _nouns_of(tools=tools, rounds=rounds)))

    def verb(self) -> str:
        return next(self._verbs)

    def noun(self) -> str:
        return next(self._nouns)

    def nouns(self, bounds: tuple[int, int]) -> tuple[str, ...]:
        return tuple(self.noun() for _ in range(self._draw.randint(*bounds)))

    def shuffled(self, items: Sequence[str]) -> list[str]:
        return self._draw.sample(items, len(items))


def _invent_tool(words: _Draws) -> _Tool:
    return _Tool(
        keyword=words.verb(),
        name=f"{words.verb()}_{words.noun()}",
        parameters=words.nouns(_PARAMETERS),
    )


def _invent_round(words: _Draws, tool: _Tool) -> Round:
    values = {name: " ".join(words.nouns(_WORDS_OF_A_VALUE)) for name in tool.parameters}
    wishes = "; ".join(f"{name} = {values[name]}" for name in words.shuffled(tool.parameters))
    result = " ".join(words.nouns(_WORDS_OF_A_VALUE))
    call = Step(
        say=(user_message(f"please {tool.keyword} with {wishes}."),),
        due=DueCall(name=tool.name, arguments=values),
        tool_result=result,
    )
    return Round((call, Step(due=DueAnswer(must_contain=(result,)))))


def _tokens_without_fillers(tools: Sequence[_Tool], first: Round) -> int:
    """Size of the first prompt but for its fillers, where a word or a mark is one token.

    Counted after the testbed's template: 12 tokens of frame, `### KEYWORD: NAME NAME(P:string,
    P:string)` for a tool, `please KEYWORD with P = v v; P = v.` and two role marks for the user.
    """
    definitions = sum(6 + 3 * len(tool.parameters) for tool in tools)
    due = first.steps[0].due
    values = due.arguments.values() if isinstance(due, DueCall) else ()
    wishes = sum(3 + len(str(value).split()) for value in values)
    return 12 + definitions + 5 + wishes


def _nouns_of(*, tools: int, rounds: int) -> int:
    """At most."""
    return tools * _NOUNS_OF_A_TOOL + rounds * _NOUNS_OF_A_ROUND


def _require_enough_words(words: WordList, rounds: int, *, tools: int) -> None:
    most = (len(words.nouns) - tools * _NOUNS_OF_A_TOOL) // _NOUNS_OF_A_ROUND
    if not 1 <= rounds <= most:
        raise ConfigError(
            f"workload.rounds: found {rounds}; {_NAME} has words for 1 to {most} rounds a session"
        )
