"""The ledger of suspects: what of the failing arm may be to blame, and what became of it; pure.

A suspect is a level of the baseline, or several that were changed together. What is said of it was
decided by a verdict on an arm that changes it and nothing else; without one it is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.stored_verdict import is_exploratory
from db.reads.campaigns import ArmFacts, VerdictFacts
from db.vocabulary import Direction, Elimination, Headline


class Standing(StrEnum):
    """In the order in which the ledger lists them."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    RULED_OUT = "ruled out"


@dataclass(frozen=True, slots=True)
class Suspect:
    """`levels` are those of the baseline, by factor. `changed` is the arm without them, if any.

    `by` is the verdict that says most, also of an open one; `why` is one sentence.
    """

    levels: tuple[tuple[str, str], ...]
    standing: Standing
    why: str
    baseline: ArmFacts
    changed: ArmFacts | None
    by: VerdictFacts | None

    @property
    def name(self) -> str:
        return " and ".join(f"{factor} = {level}" for factor, level in self.levels)


def suspects(arms: Sequence[ArmFacts], verdicts: Sequence[VerdictFacts]) -> list[Suspect]:
    """Open ones first. Empty where the campaign names no baseline."""
    baseline = next((arm for arm in arms if arm.is_baseline), None)
    if baseline is None:
        return []
    by_id = {arm.id: arm for arm in arms}
    found: dict[frozenset[str], Suspect] = {}
    for verdict in verdicts:
        changed = _changed_arm(verdict, baseline, by_id)
        factors = frozenset() if changed is None else _changed_factors(baseline, changed)
        if changed is None or not factors:
            continue
        suspect = _judged(baseline, changed, factors, verdict)
        known = found.get(factors)
        if known is None or _says_more(suspect, known):
            found[factors] = suspect
    for factor in sorted(_varied(arms)):
        found.setdefault(frozenset({factor}), _untried(baseline, arms, factor))
    order = list(Standing)
    return sorted(found.values(), key=lambda each: (order.index(each.standing), len(each.levels)))


def _changed_arm(
    verdict: VerdictFacts, baseline: ArmFacts, by_id: dict[int, ArmFacts]
) -> ArmFacts | None:
    """The arm that a verdict holds against the baseline; None where it is about other arms."""
    if verdict.versus_arm_id != baseline.id:
        return None
    return by_id.get(verdict.arm_id)


def _changed_factors(baseline: ArmFacts, arm: ArmFacts) -> frozenset[str]:
    names = {*baseline.levels, *arm.levels}
    return frozenset(n for n in names if baseline.levels.get(n) != arm.levels.get(n))


def _varied(arms: Sequence[ArmFacts]) -> set[str]:
    """Factors that have more than one level in this campaign."""
    names = {name for arm in arms for name in arm.levels}
    return {name for name in names if len({str(arm.levels.get(name)) for arm in arms}) > 1}


def _judged(
    baseline: ArmFacts, changed: ArmFacts, factors: frozenset[str], verdict: VerdictFacts
) -> Suspect:
    standing, why = _standing(verdict)
    return Suspect(_levels(baseline, factors), standing, why, baseline, changed, verdict)


def _standing(verdict: VerdictFacts) -> tuple[Standing, str]:
    if verdict.headline is None:
        return Standing.OPEN, "It is not judged yet."
    if is_exploratory(verdict):
        return Standing.OPEN, "What was found is exploratory: it was not predicted before the runs."
    if verdict.headline == Headline.CONFIRMED and verdict.direction == Direction.LOWER:
        return Standing.CONFIRMED, "Without it the fault is gone, within what is tolerated."
    if verdict.headline == Headline.IMPROVED_NOT_ELIMINATED:
        return Standing.OPEN, "Without it there is less corruption, but some is left: not alone."
    if verdict.elimination == Elimination.REFUTED:
        if verdict.direction == Direction.LOWER:
            return Standing.OPEN, "Without it there is less corruption, and the fault is not gone."
        return Standing.RULED_OUT, "Not needed for the fault: it is still seen without it."
    if verdict.headline == Headline.CONFIRMED:
        return Standing.OPEN, "The fault is not seen without it; that it is rarer is not shown."
    return Standing.OPEN, "What was run cannot say."


def _untried(baseline: ArmFacts, arms: Sequence[ArmFacts], factor: str) -> Suspect:
    """No verdict on it alone: the arm that would show it, where there is one."""
    alone = frozenset({factor})
    changed = next((arm for arm in arms if _changed_factors(baseline, arm) == alone), None)
    if changed is None:
        why = "No arm differs from the baseline in it alone."
    else:
        why = "No hypothesis asks for it alone."
    levels = _levels(baseline, alone)
    return Suspect(levels, Standing.OPEN, why, baseline, changed, None)


def _levels(baseline: ArmFacts, factors: frozenset[str]) -> tuple[tuple[str, str], ...]:
    ordered = [name for name in baseline.levels if name in factors]
    ordered += sorted(factors - set(ordered))
    return tuple((name, str(baseline.levels.get(name, "unset"))) for name in ordered)


def _says_more(suspect: Suspect, known: Suspect) -> bool:
    """What is decided stands over what is open; of two alike the one judged last."""
    ranks = [each.standing is not Standing.OPEN for each in (suspect, known)]
    moments = [(each.by.decided_at_us or 0) if each.by else 0 for each in (suspect, known)]
    return (ranks[0], moments[0]) > (ranks[1], moments[1])
