"""A stored verdict taken apart into what pages show: headline, three answers, reasons, next steps.

The sentences are those that were stored when it was reached; nothing is judged or counted here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from db.identifiers import IdKind, format_id
from db.reads.campaigns import VerdictFacts
from db.vocabulary import Availability, Direction, Elimination

GONE = "Is the fault gone?"
LESS = "Less corruption than in the arm compared with?"
SILENCE = "More silence than there?"
_EXPLORATORY = "Exploratory: "
_NOT_COMPARED = "Not compared"
_NOTE = "Note: "
_NEXT = "Next "
_FREE = " (no run)"
_COMMAND = re.compile(r"`?(decisive \w+) CAMPAIGN`?")

_ANSWER_WORDS: dict[str, tuple[str, str]] = {
    Elimination.CONFIRMED: ("confirmed", "blue"),
    Elimination.REFUTED: ("refuted", "orange"),
    Elimination.INCONCLUSIVE: ("inconclusive", "gray"),
    Direction.LOWER: ("lower", "blue"),
    Direction.HIGHER: ("higher", "orange"),
    Direction.UNCLEAR: ("not shown", "gray"),
    Availability.WORSE: ("worse", "orange"),
    Availability.NOT_SHOWN_WORSE: ("not shown worse", "gray"),
}


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """`word` is the short answer, `sentence` the stored one; "" where none was stored."""

    question: str
    short_question: str
    word: str
    hue: str
    sentence: str


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    headline: str
    sentence: str
    is_exploratory: bool
    answers: tuple[StoredAnswer, ...]
    reasons: tuple[str, ...]
    basis: str
    notes: tuple[str, ...]
    next_steps: tuple[str, ...]


def read_verdict(facts: VerdictFacts) -> StoredVerdict | None:
    """None for a hypothesis that was not judged yet."""
    if facts.headline is None:
        return None
    sentence = facts.sentence or ""
    lines = [str(line) for line in facts.said or ()]
    return StoredVerdict(
        headline=facts.headline,
        sentence=sentence.removeprefix(_EXPLORATORY),
        is_exploratory=is_exploratory(facts),
        answers=(
            _answer(GONE, "fault gone", facts.elimination, lines),
            _answer(LESS, "less corruption", facts.direction, lines),
            _answer(SILENCE, "more silence", facts.availability, lines),
        ),
        reasons=tuple(str(reason) for reason in facts.reasons or ()),
        basis=_basis(lines),
        notes=tuple(line.removeprefix(_NOTE) for line in lines if line.startswith(_NOTE)),
        next_steps=tuple(
            _step(line.partition(": ")[2], facts.campaign_id)
            for line in lines
            if line.startswith(_NEXT) and ": " in line
        ),
    )


def is_exploratory(facts: VerdictFacts) -> bool:
    return (facts.sentence or "").startswith(_EXPLORATORY)


def _answer(
    question: str, short_question: str, answer: str | None, lines: Sequence[str]
) -> StoredAnswer:
    word, hue = _ANSWER_WORDS.get(answer or "", (answer or "not answered", "gray"))
    line = next((line for line in lines if line.startswith(question)), "")
    said = line.removeprefix(question).strip()
    if said.startswith(_NOT_COMPARED):
        word, hue = "not compared", "gray"
    return StoredAnswer(question, short_question, word, hue, said)


def _step(said: str, campaign_id: int) -> str:
    """A command with its campaign filled in, and no cost where there is none."""
    campaign = format_id(IdKind.CAMPAIGN, campaign_id)
    return _COMMAND.sub(rf"\1 {campaign}", said).removesuffix(_FREE)


def _basis(lines: Sequence[str]) -> str:
    """What the verdict rests on stands alone after the three answers."""
    answered = [place for place, line in enumerate(lines) if line.startswith(SILENCE)]
    rest = lines[answered[0] + 1 :] if answered else ()
    return next((line for line in rest if not line.startswith((_NOTE, _NEXT))), "")
