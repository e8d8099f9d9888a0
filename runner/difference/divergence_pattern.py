"""What the partings of many pairs have in common: always after a load-back, always past a page?

Each pair is a dialogue of a run of the arm asked about (side A) and its twin in a reference run
(side B). A turn of A is at risk until its pair parts. At the same turn number of the same run, the
turns that part are held against those that do not, so that a trait which merely comes with later
turns, or with one run, makes no association. Pure; the sessions of one run are not independent,
and the words say so.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from db.reads.sessions import TurnFacts
from db.reads.transcripts import PairedTurns
from runner.difference.divergence import Divergence, Parting, first_divergence
from runner.difference.transcript import cached_by_source
from runner.evidence.multiplicity import benjamini_hochberg
from runner.evidence.stratified_exact import Association, Stratum, stratified_association

Counted = TypeVar("Counted", int, str)

_OWN_CACHE = "device"
_TELLING = (Parting.ANSWER, Parting.SILENCE)


@dataclass(frozen=True, slots=True)
class PartedPair:
    """One dialogue as both sides played it; `divergence` is None where they never part.

    `is_corrupt`: side A went corrupt, by the campaign's list, in the turn at which they part.
    """

    run_id: int
    pair: PairedTurns
    divergence: Divergence | None
    is_corrupt: bool


@dataclass(frozen=True, slots=True)
class TurnAtRisk:
    """A turn of side A; `stratum` is its run and its number."""

    stratum: tuple[int, int]
    parted: bool
    traits: frozenset[str]


@dataclass(frozen=True, slots=True)
class TraitContrast:
    """How many of the turns that part have a trait, and how many of the others.

    `adjusted_p` is by Benjamini and Hochberg over all traits of one table.
    """

    trait: str
    parted_with: int
    parted: int
    others_with: int
    others: int
    association: Association
    adjusted_p: float


@dataclass(frozen=True, slots=True)
class DivergencePattern:
    """All pairs of one arm with its reference, and what their partings share.

    `by_chance`: of so many pairs of two runs of the reference arm itself, so many parted; None
    where it has only one run. `is_cut`: they played more dialogues together than were looked at.
    """

    pairs: int
    agreed: int
    partings: dict[Parting, int]
    corrupt_partings: int
    by_turn: dict[int, int]
    by_field: dict[str, int]
    at_start: int
    contrasts: tuple[TraitContrast, ...]
    by_chance: tuple[int, int] | None
    context_tokens: tuple[int, int] | None
    examples: tuple[PartedPair, ...]
    is_cut: bool = False

    @property
    def parted(self) -> int:
        """In the answer or its absence; another request is no parting of the server's."""
        return sum(self.partings.get(kind, 0) for kind in _TELLING)


def part_pairs(
    run_id: int, pairs: Iterable[PairedTurns], *, corrupt: Sequence[str]
) -> list[PartedPair]:
    return [_parted(run_id, each, corrupt) for each in pairs]


def turns_at_risk(parted: PartedPair, *, page_tokens: int | None) -> list[TurnAtRisk]:
    """Of side A, up to the turn at which the pair parts; none where the requests parted."""
    found = parted.divergence
    last = None if found is None else found.turn_index
    rows: list[TurnAtRisk] = []
    earlier: set[str] = set()
    for turn in parted.pair.a:
        if last is not None and turn.turn_index > last:
            break
        is_last = turn.turn_index == last
        if is_last and found is not None and found.parting not in _TELLING:
            break
        now = _sources(turn)
        rows.append(
            TurnAtRisk(
                stratum=(parted.run_id, turn.turn_index),
                parted=is_last,
                traits=frozenset(_traits(turn, now, earlier, page_tokens)),
            )
        )
        earlier |= now
    return rows


def find_pattern(
    parted: Sequence[PartedPair],
    *,
    page_tokens: int | None,
    by_chance: tuple[int, int] | None,
    most_examples: int = 5,
) -> DivergencePattern:
    """`page_tokens`: tokens a KV page, where the server told; None: no page is looked at."""
    found = [each.divergence for each in parted if each.divergence is not None]
    told = [each for each in found if each.parting in _TELLING]
    rows = [row for each in parted for row in turns_at_risk(each, page_tokens=page_tokens)]
    contexts = [each.context_tokens for each in told if each.context_tokens is not None]
    examples = [each for each in parted if _has_told(each)]
    examples.sort(key=lambda each: not each.is_corrupt)
    return DivergencePattern(
        pairs=len(parted),
        agreed=len(parted) - len(found),
        partings={kind: n for kind in Parting if (n := sum(f.parting is kind for f in found))},
        corrupt_partings=sum(each.is_corrupt for each in parted),
        by_turn=_counted(each.turn_index for each in told),
        by_field=_counted(each.field or "no answer" for each in told),
        at_start=sum(each.character == 0 for each in told),
        contrasts=contrast_traits(rows),
        by_chance=by_chance,
        context_tokens=(
            (min(low for low, _ in contexts), max(high for _, high in contexts))
            if contexts
            else None
        ),
        examples=tuple(examples[:most_examples]),
    )


def _has_told(each: PartedPair) -> bool:
    return each.divergence is not None and each.divergence.parting in _TELLING


def contrast_traits(rows: Sequence[TurnAtRisk]) -> tuple[TraitContrast, ...]:
    """Each trait that some turn has and some has not, the strongest association first."""
    if not any(row.parted for row in rows):
        return ()
    traits = sorted(
        trait
        for trait in {trait for row in rows for trait in row.traits}
        if any(trait not in row.traits for row in rows)
    )
    found = [stratified_association(_strata(rows, trait)) for trait in traits]
    adjusted = benjamini_hochberg([each.p_more for each in found])
    parted = [row for row in rows if row.parted]
    others = [row for row in rows if not row.parted]
    contrasts = [
        TraitContrast(
            trait=trait,
            parted_with=sum(trait in row.traits for row in parted),
            parted=len(parted),
            others_with=sum(trait in row.traits for row in others),
            others=len(others),
            association=association,
            adjusted_p=p,
        )
        for trait, association, p in zip(traits, found, adjusted, strict=True)
    ]
    return tuple(sorted(contrasts, key=lambda each: (each.association.p_more, each.trait)))


def _parted(run_id: int, pair: PairedTurns, corrupt: Sequence[str]) -> PartedPair:
    found = first_divergence(pair.a, pair.b)
    is_corrupt = (
        found is not None
        and pair.pair.a_outcome in corrupt
        and pair.pair.a_decisive_turn == found.turn_index
    )
    return PartedPair(run_id, pair, found, is_corrupt)


def _sources(turn: TurnFacts) -> set[str]:
    return {source for source, tokens in cached_by_source(turn).items() if tokens > 0}


def _traits(
    turn: TurnFacts, now: set[str], earlier: set[str], page_tokens: int | None
) -> Iterable[str]:
    for source in now | earlier:
        if source in now:
            yield f"prompt cached from {source}"
        if source not in (_OWN_CACHE, "total"):
            yield f"loaded from {source} in this turn or before it"
    if page_tokens and _crosses_page(turn, page_tokens):
        yield f"answer crosses a page of {page_tokens} tokens"


def _crosses_page(turn: TurnFacts, page_tokens: int) -> bool:
    if turn.prompt_tokens is None or turn.completion_tokens is None:
        return False
    return turn.prompt_tokens % page_tokens + turn.completion_tokens >= page_tokens


def _strata(rows: Sequence[TurnAtRisk], trait: str) -> list[Stratum]:
    by_stratum: dict[tuple[int, int], list[TurnAtRisk]] = {}
    for row in rows:
        by_stratum.setdefault(row.stratum, []).append(row)
    return [
        Stratum(
            events_with=sum(row.parted and trait in row.traits for row in few),
            events=sum(row.parted for row in few),
            with_trait=sum(trait in row.traits for row in few),
            total=len(few),
        )
        for few in by_stratum.values()
    ]


def _counted(values: Iterable[Counted]) -> dict[Counted, int]:
    """The most frequent first."""
    return dict(Counter(values).most_common())
