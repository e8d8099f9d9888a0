"""Ids as people read them: `c-12`, `r-7`, `s-340`. The letter says what, the number is the row."""

import re
from enum import StrEnum


class IdKind(StrEnum):
    CAMPAIGN = "c"
    ARM = "a"
    RUN = "r"
    SESSION = "s"
    LAUNCH = "l"
    REQUEST = "q"
    HYPOTHESIS = "h"


_PATTERN = re.compile(r"([a-z])-([1-9]\d{0,17})")


def format_id(kind: IdKind, row_id: int) -> str:
    return f"{kind}-{row_id}"


def parse_id(kind: IdKind, text: str) -> int | None:
    """The row number in `text`, or None where `text` is no id of that kind."""
    match = _PATTERN.fullmatch(text.strip().lower())
    if match is None or match[1] != kind:
        return None
    return int(match[2])
