"""Words that claim more than a verdict: finds those that its answers do not license.

A word that is negated in its own clause claims nothing. Text in quotes is the user's and is left
out.
"""

import re
from collections.abc import Iterator

from db.vocabulary import Availability, Direction, Headline

# Whatever the headline: no campaign licenses them, since none shows absence or equality.
_NEVER = (
    r"fix(?:ed|es)|halv(?:ed|es|ing)|(?:in|by) half|half (?:the|as|of)|cure[ds]?|solve[ds]?|"
    r"resolve[ds]?|repair(?:ed|s)|heal(?:ed|s)|identical|unchanged|equal|equivalent|same|"
    r"prove[ns]?|proved|proof|demonstrate[ds]?|guarantee[ds]?|certain(?:ly)?|definitely|"
    r"no (?:effect|difference|change|longer|better|worse)|no (?:corruption|fault|bug) (?:left|"
    r"remains|any ?more)|(?:is|are|was|were|to) zero|zero corruption|"
    r"never (?:fails|corrupts|leaks)|(?:bug|fault|corruption)-free|safe to|works (?:now|again)"
)
_OF_CONFIRMED = (
    r"eliminate[ds]?|confirmed|gone|vanished|disappeared|absent|"
    r"(?:is|was|are|were|been|has|have) removed|removed (?:it|the)"
)
_OF_LOWER = (
    r"lower(?:ed|s)?|rarer|fewer|less|improve[ds]?|improvement|better|reduce[ds]?|reduction|"
    r"decreased?|dropped|declined|fell"
)
_OF_HIGHER = r"higher|more (?:frequent|often|corruption)|increased?|rose|doubled"
_NEGATION = re.compile(
    r"\b(not|never|no|nor|neither|cannot|none|without|whether|nothing|if)\b", re.I
)
# They hold a word of negation, and negate nothing.
_EMPHASIS = re.compile(
    r"\b(?:no|without (?:a|any)?) ?(?:doubt|question|wonder)|\bnot (?:only|just|surprisingly|"
    r"unexpectedly)|\bnothing but\b|\bnone other\b|\bif anything\b|\bcannot but\b",
    re.I,
)
_CLAUSE_END = re.compile(
    r"[.,;:!?()\n\u2013\u2014]| - |\b(?:but|because|although|though|while|since)\b", re.I
)
_QUOTED = re.compile(r'"[^"]*"')
# What only sounds like a claim: a question, a licence to look on, an interval, a plan.
_HARMLESS = re.compile(
    r"no change shown|lower(?:s)? the limit|(?:have )?lowered the limit|is confirmed if|"
    r"for fewer|for more|fewer nor more|improved, not eliminated|is the fault gone\?|"
    r"less corruption than in the arm compared with\?|for less corruption than there|"
    r"fell silent|with fewer|an absent one|the background is zero|fixed beforehand",
    re.I,
)


def unlicensed_claims(
    text: str, *, headline: Headline, direction: Direction, availability: Availability
) -> tuple[str, ...]:
    """The words, in order."""
    bare = _HARMLESS.sub(" ", _QUOTED.sub(" ", text))
    patterns = [_NEVER]
    if headline is not Headline.CONFIRMED:
        patterns.append(_OF_CONFIRMED)
    if direction is not Direction.LOWER:
        patterns.append(_OF_LOWER)
    if direction is not Direction.HIGHER:
        patterns.append(_OF_HIGHER)
    if availability is not Availability.WORSE and headline is not Headline.WORSE:
        patterns.append("worse")
    return tuple(_claims(bare, rf"\b(?:{'|'.join(patterns)})\b"))


def _claims(text: str, pattern: str) -> Iterator[str]:
    for clause in _CLAUSE_END.split(_EMPHASIS.sub(" ", text)):
        for match in re.finditer(pattern, clause, re.I):
            if not _NEGATION.search(clause[: match.start()]):
                yield match[0]
