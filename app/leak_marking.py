"""A model's text as lines for a code block, with carets under what should not be there.

Knows text and spans only. Lines before the first span begin with two blanks, lines from it on with
"! ". The text is foreign: control and direction characters are made visible, and each caret stands
under what it means even where a character is two cells wide.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.markdown_text import without_controls

_FROM_HERE = "! "
# A plain space would make it a line that a code block of the language `diff` shows in too pale a
# grey to be read.
_BEFORE = "\N{NO-BREAK SPACE} "
_CONTROL_PICTURES = 0x2400
_DSML_BAR = "\uff5c"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of one text, and what is wrong with them in a few words."""

    start: int
    end: int
    note: str


@dataclass(frozen=True, slots=True)
class MarkedText:
    """`text` is ready for a code block; the counts say how much was cut away on either side."""

    text: str
    cut_before: int = 0
    cut_after: int = 0


def mark(text: str, spans: Iterable[Span], *, limit: int = 12_000) -> MarkedText:
    """The text around the first span, at most `limit` characters, with a caret line per span."""
    ordered = sorted(_inside(spans, len(text)), key=lambda span: (span.start, span.end))
    start, end = _window(len(text), ordered, limit)
    lines: list[str] = []
    position = start
    for line in text[start:end].split("\n"):
        line_end = position + len(line)
        here = [span for span in ordered if position <= span.start <= line_end]
        reached = bool(ordered) and ordered[0].start <= line_end
        lines.append((_FROM_HERE if reached else _BEFORE) + _cells(line)[0])
        lines.extend(_FROM_HERE + _carets(line, span, position) for span in here)
        position = line_end + 1
    return MarkedText("\n".join(lines), cut_before=start, cut_after=len(text) - end)


def display_width(character: str) -> int:
    """How many cells of a fixed-width font the character as shown takes.

    U+FF5C is one cell wide: the dashboard brings a glyph of its own for it.
    """
    if character == _DSML_BAR:
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _inside(spans: Iterable[Span], length: int) -> list[Span]:
    return [
        Span(max(0, span.start), min(length, max(span.end, span.start + 1)), span.note)
        for span in spans
        if span.start <= length and span.end >= 0
    ]


def _window(length: int, spans: Sequence[Span], limit: int) -> tuple[int, int]:
    if length <= limit:
        return 0, length
    first = spans[0].start if spans else 0
    start = max(0, min(first - limit // 4, length - limit))
    return start, start + limit


def _carets(line: str, span: Span, line_start: int) -> str:
    widths = _cells(line)[1]
    first = span.start - line_start
    last = min(span.end - line_start, len(line))
    indent = sum(widths[:first])
    carets = max(1, sum(widths[first:last]))
    place = f"offset {span.start}" if span.end <= line_start + len(line) else _extent(span)
    return " " * indent + "^" * carets + f" {place}: {without_controls(span.note)}"


def _extent(span: Span) -> str:
    return f"offsets {span.start} to {span.end}"


def _cells(line: str) -> tuple[str, list[int]]:
    """The line as it is shown, and the width in cells of each of its characters."""
    shown = [_shown(character) for character in line]
    return "".join(shown), [sum(map(display_width, piece)) for piece in shown]


def _shown(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return "\u2192"
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return "\u2421"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co"):
        return f"⟨U+{code:04X}⟩"
    return character
