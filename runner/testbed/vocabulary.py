"""The token table of the tiny model: which id stands for which piece of text.

It does not know how text is cut into tokens (tokenizer) or printed from them (detokenizer). The ids
are those the weights were trained with: 53 grammar symbols, 192 fillers, 1024 content words.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

WORDS_PATH = Path(__file__).with_name("words.json")

PAD, BOS, EOS, USER, ASSISTANT, RESULT_OPEN, RESULT_CLOSE, MARK_OPEN, MARK_CLOSE = range(9)
NAME_END, IS_STRING, IS_OTHER = 12, 14, 15
TOOLS_HEADING, TOOL_BULLET, KEYWORD_END, PARAMETERS_OPEN, PARAMETERS_CLOSE, PARAMETER_NEXT = range(
    18, 24
)
TYPE_STRING, TYPE_NUMBER, PLEASE, WITH, EQUALS, VALUE_NEXT, NEWLINE = range(24, 31)
RESULT, DONE, FULL_STOP, FORMAT_HEADING = range(31, 35)

CONTROL_IDS = frozenset(range(9)) - {MARK_OPEN, MARK_CLOSE}

_SYMBOLS: tuple[str | None, ...] = (
    "<｜pad｜>",
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<tool_result>",
    "</tool_result>",
    "<｜DSML｜",
    "</｜DSML｜",
    None,
    None,
    None,
    '">\n',
    None,
    '" string="true">',
    '" string="false">',
    None,
    None,
    "## Tools\n",
    "### ",
    ": ",
    "(",
    ")\n",
    ", ",
    ":string",
    ":number",
    "please ",
    " with ",
    " = ",
    "; ",
    "\n",
    "result: ",
    "Done: ",
    ".",
    "## Format\n",
)
_SECTION_STEMS = ("calls", "actions", "tools", "steps", "tool_calls", "requests")
_INVOKE_STEMS = ("call", "use", "run", "invoke", "do", "request")
_PARAMETER_STEMS = ("arg", "param", "input", "parameter", "slot", "value")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to write a call: the three words that follow `<｜DSML｜`, as token ids."""

    section: int
    invoke: int
    parameter: int


_FIRST_SECTION = len(_SYMBOLS)
_FIRST_INVOKE = _FIRST_SECTION + len(_SECTION_STEMS)
_FIRST_PARAMETER = _FIRST_INVOKE + len(_INVOKE_STEMS)
SECTION_IDS = range(_FIRST_SECTION, _FIRST_INVOKE)
INVOKE_IDS = range(_FIRST_INVOKE, _FIRST_PARAMETER)
PARAMETER_IDS = range(_FIRST_PARAMETER, _FIRST_PARAMETER + len(_PARAMETER_STEMS))
V4 = Dialect(
    section=_FIRST_SECTION + _SECTION_STEMS.index("tool_calls"),
    invoke=_FIRST_INVOKE + _INVOKE_STEMS.index("invoke"),
    parameter=_FIRST_PARAMETER + _PARAMETER_STEMS.index("parameter"),
)
"""DeepSeek-V4's form: tool_calls, invoke, parameter; what the chat template announces."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`pieces[id]` is what a token prints; `closing[id]` what it prints after `</｜DSML｜`."""

    pieces: tuple[str, ...]
    closing: dict[int, str]
    filler_ids: range
    content_ids: range

    def __len__(self) -> int:
        return len(self.pieces)

    def is_word(self, token: int) -> bool:
        return token >= self.filler_ids.start


def load_vocabulary(words_path: Path = WORDS_PATH) -> Vocabulary:
    """Read the word list (JSON with `fillers` and `content`) and lay it behind the symbols."""
    words = json.loads(words_path.read_text(encoding="utf-8"))
    symbols = [
        *(piece or f"<｜reserved_{index}｜>" for index, piece in enumerate(_SYMBOLS)),
        *(f"{stem}>\n" for stem in _SECTION_STEMS),
        *(f'{stem} name="' for stem in _INVOKE_STEMS + _PARAMETER_STEMS),
    ]
    fillers, content = words["fillers"], words["content"]
    first_content = len(symbols) + len(fillers)
    return Vocabulary(
        pieces=(*symbols, *fillers, *content),
        closing=_closing_forms(),
        filler_ids=range(len(symbols), first_content),
        content_ids=range(first_content, first_content + len(content)),
    )


def _closing_forms() -> dict[int, str]:
    sections = {SECTION_IDS[i]: f"{stem}>" for i, stem in enumerate(_SECTION_STEMS)}
    stems = _INVOKE_STEMS + _PARAMETER_STEMS
    return sections | {_FIRST_INVOKE + i: f"{stem}>\n" for i, stem in enumerate(stems)}
