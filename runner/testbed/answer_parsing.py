"""Which parser reads an answer, and whether it gets the text as it comes or as a whole.

A fault lives here: a parser that does not hold back what may become an opener. The opener comes in
several pieces, no single one of them is it, and the whole call is passed on as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from runner.testbed.chat_request import ChatRequest
from runner.testbed.sglang_parser import SECTION_OPEN, SglangStreamParser, SglangWholeParser
from runner.testbed.tool_parser import ParserOutput, StrictToolParser


class ToolParser(Protocol):
    """Feed text as it comes; `finish` when there is no more."""

    def feed(self, text: str) -> list[ParserOutput]: ...

    def finish(self) -> list[ParserOutput]: ...


@dataclass(frozen=True, slots=True)
class Parsing:
    """`kind`: strict or sglang. `holds_back`: an opener is recognised across pieces."""

    kind: str = "strict"
    holds_back: bool = True


class WithoutHoldingBack:
    """Looks for the opener in each piece alone."""

    def __init__(self, parser: ToolParser) -> None:
        self._parser = parser
        self._opened = False

    def feed(self, text: str) -> list[ParserOutput]:
        self._opened = self._opened or SECTION_OPEN in text
        return self._parser.feed(text) if self._opened else [text]

    def finish(self) -> list[ParserOutput]:
        return self._parser.finish()


class WholeAnswer:
    """Keeps the text until it is complete, as an answer that is not streamed is read."""

    def __init__(self, parser: ToolParser) -> None:
        self._parser = parser
        self._text = ""

    def feed(self, text: str) -> list[ParserOutput]:
        self._text += text
        return []

    def finish(self) -> list[ParserOutput]:
        outputs = self._parser.feed(self._text) if self._text else []
        return outputs + self._parser.finish()


def make_parser(parsing: Parsing, request: ChatRequest) -> ToolParser:
    """The parser of one answer to `request`."""
    parser: ToolParser
    if parsing.kind == "strict":
        parser = StrictToolParser(request.tools)
    else:
        parser = SglangStreamParser() if request.stream else SglangWholeParser(request.tools)
    if not parsing.holds_back:
        parser = WithoutHoldingBack(parser)
    return parser if request.stream else WholeAnswer(parser)
