"""What one failing turn looks like, without what is its own: the key by which failures group; pure.

Numbers, ids and quoted values are taken out of error texts; of leaked markup the family and the
place at which it stops being the call that was due are kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.reads.sessions import TurnFacts
from db.vocabulary import DueKind, Outcome, OutcomeClass
from runner.difference.markup_break import markup_break

_MOST_TEXT = 120
_DUE = re.compile(r"^[^;]{0,300} was due; ")  # how the judge begins what it tells of a turn
_OWN = (
    (re.compile(r"""(["'`])(?:(?!\1).){1,200}\1"""), "…"),  # quoted
    (re.compile(r"\b[0-9a-f]{8}(?:-?[0-9a-f]{4,12}){1,4}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "ADDRESS"),
    (re.compile(r"\br\d+-s\d+-t\d+\b"), "ID"),
    (re.compile(r"\d+(?:[.,]\d+)*"), "N"),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """`words` tell what was seen, from the general to the particular; `detail` what was said of an
    error, which may quote what was asked.
    """

    outcome: str
    words: tuple[str, ...]
    detail: str = ""

    @property
    def text(self) -> str:
        return ", ".join(filter(None, (self.outcome, *self.words, self.detail)))

    @property
    def text_without_detail(self) -> str:
        return ", ".join((self.outcome, *self.words))


def signature_of(outcome: str, turn: TurnFacts) -> Signature:
    """`outcome` is that of the session which the turn decided."""
    if Outcome(outcome).outcome_class is OutcomeClass.CORRUPT:
        return Signature(outcome, tuple(_corrupt_words(turn)))
    return Signature(outcome, tuple(_error_words(turn)), without_its_own(turn.detail or ""))


def without_its_own(text: str) -> str:
    """An error's text with what was due, and its numbers, ids, addresses and quotes taken out."""
    text = _DUE.sub("", text)
    for pattern, shown in _OWN:
        text = pattern.sub(shown, text)
    return text.strip()[:_MOST_TEXT]


def tool_due(turn: TurnFacts) -> str | None:
    """The tool whose call was due in the turn."""
    return str(turn.due.get("name")) if turn.due.get("kind") == DueKind.CALL else None


def _corrupt_words(turn: TurnFacts) -> list[str]:
    words = [_markup_words(turn, span) for span in turn.markup[:1] if isinstance(span, Mapping)]
    words += [flag.replace("_", " ") for flag in map(str, turn.flags) if not _told(flag, words)]
    kind = turn.due.get("kind")
    if kind in (DueKind.CALL, DueKind.ANSWER):
        words.append(f"{kind} due")
    if turn.finish_reason == "length":
        words.append("cut at the token limit")
    return words


def _markup_words(turn: TurnFacts, span: Mapping[str, Any]) -> str:
    field, family = str(span.get("field") or "content"), str(span.get("family") or "some")
    told = f"{family} markup in {field.partition(':')[0]}"
    text, due = turn.got.get(field), turn.due
    if not isinstance(text, str) or tool_due(turn) is None:
        return told
    arguments = due.get("arguments")
    broken = markup_break(
        text, str(due.get("name")), arguments if isinstance(arguments, Mapping) else {}
    )
    return f"{told}, broken at the {broken.place}"


def _told(flag: str, words: list[str]) -> bool:
    """`markup_in_content` says what the words on the markup say."""
    return bool(words) and flag.startswith("markup_in_")


def _error_words(turn: TurnFacts) -> list[str]:
    words = [str(turn.reason or "unknown")]
    if turn.http_status is not None and turn.http_status >= 400:
        words.append(f"HTTP {turn.http_status}")
    return words
