"""Finds the marks of the catalogue in a text, without asking whether they belong there."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from runner.judge.markup_family import MarkupFamily

MAX_MARKS: Final = 400
"""Of a text with more, the first and the last ones are kept: enough to judge and to show."""
MAX_SCANNED: Final = 150_000
"""Characters read at each end of a text; nothing between them is looked for in a longer one."""
_ANY_CUE: Final = (
    *"<[]|｜‖¦│",
    *("DSML", "tool", "function", "to=", "invoke", "parameter", "arg_", "think", "INST"),
    *("▁of▁", "▁pad▁", "steptml:", "atem:", "longcat_", "TOOLCALL", "_of_turn"),
)
"""A text that holds a cue of any family holds one of these, and few others do. They are looked for
one by one, in a sixth of the time of one expression."""

_NAME: Final = re.compile(r"[^\w▁:.-]+")
_SIDE_WORD: Final = re.compile(
    r"^(?:start|end)_|[_▁:](?:begin|start|end|prefix|suffix)$", re.IGNORECASE
)
_CLOSING_WORD: Final = re.compile(r"^end_|[_▁:](?:end|suffix)$", re.IGNORECASE)
_CLOSING_BAR: Final = re.compile(r"<\w+\|>")


@dataclass(frozen=True, slots=True)
class MarkupMark:
    """One hit. A support needs company; see `MarkupFamily`."""

    start: int
    end: int
    family: MarkupFamily
    text: str
    is_support: bool = False


def holds_cue(text: str) -> bool:
    """Whether a mark of any family may stand in the text."""
    return any(cue in text for cue in _ANY_CUE)


def scan_marks(text: str, families: Sequence[MarkupFamily]) -> list[MarkupMark]:
    """All marks in order of place, none overlapping; of two at one place the first family wins."""
    if not holds_cue(text):
        return []
    hits = list(_hits(text, families))
    if not hits:
        return []
    hits.sort(key=lambda hit: hit[:2])
    marks: list[MarkupMark] = []
    end = 0
    for _, _, mark in hits:
        if mark.start >= end:
            marks.append(mark)
            end = mark.end
    if len(marks) > MAX_MARKS:
        half = MAX_MARKS // 2
        marks = marks[:half] + marks[-half:]
    return marks


def without_lone_supports(marks: Sequence[MarkupMark]) -> list[MarkupMark]:
    """Drops the supports of a text that holds no marker and no closing tag without its opening."""
    if any(not mark.is_support and not mark.family.is_control for mark in marks):
        return list(marks)
    orphans = set(orphan_closers(marks))
    return [mark for mark in marks if not mark.is_support or mark in orphans]


def orphan_closers(marks: Sequence[MarkupMark]) -> list[MarkupMark]:
    """The closing marks to which nothing before them is the opening."""
    return _pair(marks)[0]


def is_balanced(marks: Sequence[MarkupMark]) -> bool:
    """Whether every mark that opens is closed, and the other way round."""
    return _pair(marks) == ([], 0)


def _pair(marks: Sequence[MarkupMark]) -> tuple[list[MarkupMark], int]:
    """The closing marks without an opening, and how many openings stay open."""
    open_counts: dict[str, int] = {}
    orphans: list[MarkupMark] = []
    for mark in marks:
        name, is_closing = _tag(mark.text)
        if not is_closing:
            open_counts[name] = open_counts.get(name, 0) + 1
        elif open_counts.get(name, 0) > 0:
            open_counts[name] -= 1
        else:
            orphans.append(mark)
    return orphans, sum(open_counts.values())


def _hits(text: str, families: Sequence[MarkupFamily]) -> Iterator[tuple[int, int, MarkupMark]]:
    for rank, family in enumerate(families):
        if any(cue in text for cue in family.cues):
            for match in _matches(text, _expression(family)):
                is_support = match.lastgroup == "support"
                mark = MarkupMark(match.start(), match.end(), family, match[0], is_support)
                yield match.start(), rank, mark


def _matches(text: str, expression: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The first and the last MAX_MARKS of them."""
    first = list(islice(expression.finditer(text, 0, MAX_SCANNED), MAX_MARKS))
    yield from first
    if len(text) > MAX_SCANNED or len(first) == MAX_MARKS:
        done = first[-1].end() if len(first) == MAX_MARKS else MAX_SCANNED
        tail = expression.finditer(text, max(done, len(text) - MAX_SCANNED))
        yield from deque(tail, maxlen=MAX_MARKS)


@lru_cache(maxsize=256)
def _expression(family: MarkupFamily) -> re.Pattern[str]:
    support = f"|(?P<support>{family.supports})" if family.supports else ""
    return re.compile(f"(?P<marker>{family.markers}){support}")


def _tag(text: str) -> tuple[str, bool]:
    """The bare name of a tag or token, and whether it closes."""
    words = [word for word in _NAME.split(text) if word]
    if len(words) > 1 and words[0].isupper():
        words = words[1:]
    name = words[0].split("=")[0] if words else text
    is_closing = bool("/" in text[:4] or _CLOSING_WORD.search(name) or _CLOSING_BAR.fullmatch(text))
    return _SIDE_WORD.sub("", name), is_closing
