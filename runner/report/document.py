"""What a report says, before it takes a form: sections of sentences, tables, figures as data and
verbatim text. It knows no markup, and draws nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from db.vocabulary import OutcomeClass


class SectionTag(StrEnum):
    ACTION_NEEDED = "action needed"
    INFORMATION = "information"


class SectionRole(StrEnum):
    """What a section is to somebody who is asked to mend the fault."""

    FINDING = "finding"
    REPRODUCTION = "reproduction"
    ENVIRONMENT = "environment"
    DETAIL = "detail"


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to a page; `target` is path and query from the root of the dashboard."""

    text: str
    target: str


Span: TypeAlias = str | Link
Words: TypeAlias = str | tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Of a part of a section."""

    text: Words


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: Words


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as long as the header; `numeric` are the columns that stand to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    numeric: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"a row of {len(row)} cells under {len(self.header)} headings")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that is shown as it is: a server's output, a log line, a file. Never markup."""

    text: str


@dataclass(frozen=True, slots=True)
class RateMark:
    """A rate with its interval, and the rates of the runs it was pooled from; all from 0 to 1.

    `said` is the rate as people read it. Without sessions there is no rate: all of them are None.
    """

    label: Link
    said: str
    rate: float | None
    low: float | None
    high: float | None
    of_runs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class RateFigure:
    """Corrupt rates, a line an arm."""

    caption: str
    marks: tuple[RateMark, ...]


@dataclass(frozen=True, slots=True)
class OutcomeBar:
    """How many sessions of an arm ended in which class."""

    label: Link
    counts: tuple[tuple[OutcomeClass, int], ...]


@dataclass(frozen=True, slots=True)
class OutcomeFigure:
    """Sessions by class of outcome, a bar an arm."""

    caption: str
    bars: tuple[OutcomeBar, ...]


@dataclass(frozen=True, slots=True)
class TurnBar:
    """One turn of a session; seconds since the session began. `first_token_s` is None: none came.

    `outcome_class` is None for a turn that the session's outcome does not hang on.
    """

    label: str
    starts_s: float
    first_token_s: float | None
    ends_s: float
    outcome_class: OutcomeClass | None
    said: str


@dataclass(frozen=True, slots=True)
class TurnFigure:
    """When the turns of one session began, had their first token, and ended."""

    caption: str
    bars: tuple[TurnBar, ...]


Figure: TypeAlias = RateFigure | OutcomeFigure | TurnFigure
Block: TypeAlias = Heading | Paragraph | Table | Verbatim | RateFigure | OutcomeFigure | TurnFigure


@dataclass(frozen=True, slots=True)
class Section:
    """`tag` is None where a reader elsewhere is not told what to do."""

    title: str
    blocks: tuple[Block, ...]
    tag: SectionTag | None = SectionTag.INFORMATION
    role: SectionRole = SectionRole.FINDING


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """`made_from` says of which record and of what time it is.

    `base_url` is where the dashboard is reached; without it no link is written, because a relative
    one leads nowhere from a file.
    """

    title: str
    summary: Words
    sections: Sequence[Section] = field(default_factory=tuple)
    made_from: str = ""
    base_url: str | None = None

    def address(self, link: Link) -> str | None:
        """Where the link leads; None where none is to be written."""
        if not self.base_url:
            return None
        return self.base_url.rstrip("/") + link.target


def spans_of(words: Words) -> tuple[Span, ...]:
    return (words,) if isinstance(words, str) else words


def plain(words: Words) -> str:
    """The words without their links."""
    return "".join(span if isinstance(span, str) else span.text for span in spans_of(words))


def with_texts(document: ReportDocument, change: Callable[[str], str]) -> ReportDocument:
    """The document with every text of it changed; where links lead stays."""
    return replace(
        document,
        title=change(document.title),
        summary=_words(document.summary, change),
        made_from=change(document.made_from),
        sections=tuple(
            replace(
                section,
                title=change(section.title),
                blocks=tuple(_block(block, change) for block in section.blocks),
            )
            for section in document.sections
        ),
    )


def _words(words: Words, change: Callable[[str], str]) -> Words:
    if isinstance(words, str):
        return change(words)
    return tuple(change(span) if isinstance(span, str) else _link(span, change) for span in words)


def _link(link: Link, change: Callable[[str], str]) -> Link:
    return Link(change(link.text), link.target)


def _block(block: Block, change: Callable[[str], str]) -> Block:
    match block:
        case Heading() | Paragraph():
            return replace(block, text=_words(block.text, change))
        case Verbatim():
            return Verbatim(change(block.text))
        case Table():
            rows = tuple(tuple(_words(cell, change) for cell in row) for row in block.rows)
            return replace(block, header=tuple(map(change, block.header)), rows=rows)
        case RateFigure():
            marks = tuple(
                replace(mark, label=_link(mark.label, change), said=change(mark.said))
                for mark in block.marks
            )
            return RateFigure(change(block.caption), marks)
        case OutcomeFigure():
            bars = tuple(replace(bar, label=_link(bar.label, change)) for bar in block.bars)
            return OutcomeFigure(change(block.caption), bars)
        case TurnFigure():
            turns = tuple(
                replace(bar, label=change(bar.label), said=change(bar.said)) for bar in block.bars
            )
            return TurnFigure(change(block.caption), turns)
