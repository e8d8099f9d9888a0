"""Where in a text code fences, inline code and thinking stand; the rest is prose.

Knows Markdown's quoting as models write it, closed or not, and nothing about tool calls.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_FENCE: Final = re.compile(r"^[ \t>]{0,12}(`{3,}|~{3,})([^\n]{0,200})", re.MULTILINE)
_INLINE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)")
_THINK: Final = re.compile(r"</?think(?:ing)?>")


class RegionKind(StrEnum):
    PROSE = "prose"
    FENCE = "fence"
    INLINE = "inline"
    THINK = "think"


@dataclass(frozen=True, slots=True)
class Region:
    """`start` to `end` with its delimiters, `body_start` to `body_end` without them.

    `label` is the word behind a fence's opening, in lower case.
    """

    kind: RegionKind
    start: int
    end: int
    body_start: int
    body_end: int
    label: str = ""

    def is_all_of(self, text: str) -> bool:
        """Whether the text holds nothing else."""
        return not text[: self.start].strip() and not text[self.end :].strip()


class TextRegions:
    """The regions of one text, to be asked by offset; `prose` is what all other text counts as."""

    def __init__(self, text: str, *, prose: RegionKind = RegionKind.PROSE) -> None:
        self._regions = _regions(text)
        self._starts = [region.start for region in self._regions]
        self._prose = Region(prose, 0, len(text), 0, len(text))

    def at(self, offset: int) -> Region:
        number = bisect_right(self._starts, offset) - 1
        if number >= 0 and offset < self._regions[number].end:
            return self._regions[number]
        return self._prose


def _regions(text: str) -> list[Region]:
    fences = _fences(text) if "```" in text or "~~~" in text else []
    found = sorted([*fences, *_outside(_inline_code(text), fences)], key=_start)
    return sorted([*found, *_outside(_thinking(text), found)], key=_start)


def _fences(text: str) -> list[Region]:
    found: list[Region] = []
    opening: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opening is None:
            opening = mark
        elif _closes(mark, opening):
            found.append(_fence(opening, mark.start(1), mark.end(1)))
            opening = None
    if opening is not None:
        found.append(_fence(opening, len(text), len(text)))
    return found


def _closes(mark: re.Match[str], opening: re.Match[str]) -> bool:
    if not mark[1].startswith(opening[1]):
        return False
    rest = mark[2].strip()
    # Models close a fence and go on in the same line, as DeepSeek's own call form does.
    return not rest or not rest[0].isalnum()


def _fence(opening: re.Match[str], body_end: int, end: int) -> Region:
    label = opening[2].strip().lower()
    return Region(RegionKind.FENCE, opening.start(), end, opening.end(), body_end, label)


def _inline_code(text: str) -> list[Region]:
    if "`" not in text:
        return []
    return [
        Region(RegionKind.INLINE, code.start(), code.end(), code.start(2), code.end(2))
        for code in _INLINE.finditer(text)
    ]


def _thinking(text: str) -> list[Region]:
    """What a reasoning parser left in the content: up to the closing tag, or to the end."""
    if "think" not in text:
        return []
    found: list[Region] = []
    start, body_start = 0, 0
    is_open = True
    for tag in _THINK.finditer(text):
        if tag[0].startswith("</"):
            if is_open:
                found.append(Region(RegionKind.THINK, start, tag.end(), body_start, tag.start()))
            is_open = False
        else:
            start, body_start, is_open = tag.start(), tag.end(), True
    if is_open and body_start:
        found.append(Region(RegionKind.THINK, start, len(text), body_start, len(text)))
    return found


def _outside(regions: Sequence[Region], others: Sequence[Region]) -> list[Region]:
    starts = [other.start for other in others]

    def is_free(region: Region) -> bool:
        number = bisect_right(starts, region.start) - 1
        if number >= 0 and others[number].end > region.start:
            return False
        return number + 1 >= len(others) or others[number + 1].start >= region.end

    return [region for region in regions if is_free(region)]


def _start(region: Region) -> int:
    return region.start
