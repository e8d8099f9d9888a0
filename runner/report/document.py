"""What a report says, before it takes a form: sections of sentences, tables and verbatim text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


class SectionTag(StrEnum):
    ACTION_NEEDED = "action needed"
    INFORMATION = "information"


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as long as the header; `numeric` are the columns that stand to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"a row of {len(row)} cells under {len(self.header)} headings")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that is shown as it is: a server's output, a log line, a file. Never markup."""

    text: str


Block: TypeAlias = Paragraph | Table | Verbatim


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: tuple[Block, ...]
    tag: SectionTag = SectionTag.INFORMATION


@dataclass(frozen=True, slots=True)
class ReportDocument:
    title: str
    summary: str
    sections: Sequence[Section] = field(default_factory=tuple)
