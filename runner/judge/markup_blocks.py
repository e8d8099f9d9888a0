"""Groups neighbouring marks into blocks of markup, leaving out the marks that are only named."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from runner.judge.json_values import parse_json_prefix
from runner.judge.markup_mention import has_naming_cue, is_named
from runner.judge.markup_scan import MarkupMark
from runner.judge.markup_spans import MarkupQuestion
from runner.judge.markup_topic import Topic
from runner.judge.text_regions import Region, RegionKind, TextRegions

_MAX_GAP: Final = 1500
_BETWEEN_UNITS: Final = re.compile(r"\s{0,2}(?:\.\.\.|…)?\s{0,2}")
_BEFORE_PAYLOAD: Final = re.compile(r"\s{0,4}[\w.:\-]{0,80}\s{0,4}(?=[\[{])")


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring marks in one region, to the end of what they frame."""

    marks: tuple[MarkupMark, ...]
    start: int
    end: int
    region: Region
    names_tool: bool


def blocks_of(
    text: str, marks: Sequence[MarkupMark], regions: TextRegions, *, question: MarkupQuestion
) -> Iterator[Block]:
    """In order; `question` tells whether the conversation allows a mark to be named."""
    names = [tool.name for tool in question.tools if tool.name]
    group: list[MarkupMark] = []
    region = regions.at(0)
    for unit in _units(text, marks):
        unit_region = regions.at(unit[0].start)
        if _is_unit_named(text, unit, unit_region, question=question):
            continue
        is_near = bool(group) and unit[0].start - group[-1].end <= _MAX_GAP
        if group and not (is_near and unit_region == region):
            yield _block(text, group, region, names=names)
            group = []
        region = unit_region
        group.extend(unit)
    if group:
        yield _block(text, group, region, names=names)


def _units(text: str, marks: Sequence[MarkupMark]) -> Iterator[list[MarkupMark]]:
    """Marks that stand side by side, or around an ellipsis, are named or used as one."""
    unit: list[MarkupMark] = []
    for mark in marks:
        if unit and not _BETWEEN_UNITS.fullmatch(text, unit[-1].end, mark.start):
            yield unit
            unit = []
        unit.append(mark)
    if unit:
        yield unit


def _is_unit_named(
    text: str,
    unit: Sequence[MarkupMark],
    region: Region,
    *,
    question: MarkupQuestion,
) -> bool:
    if region.kind in (RegionKind.FENCE, RegionKind.INLINE):
        return False
    start, end = unit[0].start, unit[-1].end
    names = [tool.name for tool in question.tools if tool.name]
    if not is_named(text, start, end, tool_names=names):
        return False
    if question.conversation.topic is not Topic.NONE or region.kind is RegionKind.THINK:
        return True
    return has_naming_cue(text, start, end)


def _block(
    text: str, marks: Sequence[MarkupMark], region: Region, *, names: Sequence[str]
) -> Block:
    start, end = marks[0].start, marks[-1].end
    payload = _BEFORE_PAYLOAD.match(text, end)
    if payload is not None:
        _, payload_end = parse_json_prefix(text, payload.end())
        end = max(end, payload_end)
    behind = text[end : end + 80].split("\n\n")[0]
    framed = text[start:end] + behind
    names_tool = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", framed) for name in names)
    return Block(tuple(marks), start, min(end, max(region.end, marks[-1].end)), region, names_tool)
