"""Words that claim more than a verdict: finds those that its answers do not license.

A word that is negated in its own clause claims nothing. Text in quotes is the user's and is left
out.
"""

import re
from collections.abc import Iterator

from db.vocabulary import Availability, Direction, Headline

# Whatever the headline: no campaign licenses them, since none shows absence or equality.
_NEVER = (
    r"fixed|fixes|halved|halves|cured|solved|resolved|identical|unchanged|"
    r"proves?|proved|proven|no effect|no difference|no change|same"
)
_OF_CONFIRMED = r"eliminated|eliminates|confirmed|gone"
_OF_LOWER = r"lower|rarer|fewer|improved|improvement|reduced"
_OF_HIGHER = r"higher|more frequent"
_NEGATION = re.compile(
    r"\b(not|never|no|nor|neither|cannot|none|without|whether|nothing|if)\b", re.I
)
_CLAUSE_END = re.compile(r"[.;:()]|, (?:but|and|so)\b")
_QUOTED = re.compile(r'"[^"]*"')
# What only sounds like a claim: a licence to look on, an interval, a plan.
_HARMLESS = re.compile(
    r"no change shown|lower(?:s)? the limit|(?:have )?lowered the limit|is confirmed if|"
    r"for fewer|for more|fewer nor more|improved, not eliminated|is the fault gone\?",
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
    for clause in _CLAUSE_END.split(text):
        for match in re.finditer(pattern, clause, re.I):
            if not _NEGATION.search(clause[: match.start()]):
                yield match[0]
