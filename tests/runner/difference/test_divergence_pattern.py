"""What the partings of many pairs share, held against the turns that did not part."""

from collections.abc import Sequence

import pytest
from scipy.stats import fisher_exact

from db.reads.sessions import TurnFacts
from runner.difference.divergence_pattern import (
    DivergencePattern,
    PartedPair,
    find_pattern,
    part_pairs,
    turns_at_risk,
)
from runner.difference.divergence_words import pattern_lines
from tests.runner.difference.turns import pair, turn

HOST = "loaded from host in this turn or before it"


def session(*contents: str, cached: Sequence[dict[str, int]] = ()) -> list[TurnFacts]:
    sources = [*cached, *({} for _ in contents)]
    return [
        turn(index, content, cached_tokens=sources[index]) for index, content in enumerate(contents)
    ]


def parted_pairs(loaded_and_parted: int, loaded: int, parted: int, total: int) -> list[PartedPair]:
    """One turn a pair; the first number of pairs have both the load-back and the parting."""
    kinds = [(True, True)] * loaded_and_parted
    kinds += [(True, False)] * (loaded - loaded_and_parted)
    kinds += [(False, True)] * (parted - loaded_and_parted)
    kinds += [(False, False)] * (total - len(kinds))
    pairs = [
        pair(
            session("odd" if is_parted else "even", cached=[{"host": 64 if is_loaded else 0}]),
            session("even"),
            a_outcome="leak" if is_parted else "done",
            a_decisive_turn=0 if is_parted else None,
            index=index,
        )
        for index, (is_loaded, is_parted) in enumerate(kinds)
    ]
    return part_pairs(1, pairs, corrupt=["leak"])


def pattern(
    parted: Sequence[PartedPair], *, by_chance: tuple[int, int] | None = None
) -> DivergencePattern:
    return find_pattern(parted, page_tokens=None, by_chance=by_chance)


def test_a_trait_of_one_run_and_turn_is_judged_as_by_fisher() -> None:
    found = pattern(parted_pairs(8, 10, 9, 40))

    contrast = next(each for each in found.contrasts if each.trait == HOST)
    fisher = fisher_exact([[8, 2], [1, 29]], alternative="greater")
    assert (contrast.parted_with, contrast.parted) == (8, 9)
    assert (contrast.others_with, contrast.others) == (2, 31)
    assert contrast.association.p_more == pytest.approx(fisher.pvalue)


def test_a_load_back_is_remembered_by_the_turns_after_it() -> None:
    (parted,) = part_pairs(
        1,
        [pair(session("a", "b", "odd", cached=[{}, {"host": 64}]), session("a", "b", "c"))],
        corrupt=[],
    )

    rows = turns_at_risk(parted, page_tokens=None)

    assert [HOST in row.traits for row in rows] == [False, True, True]
    assert [row.parted for row in rows] == [False, False, True]


def test_turns_after_the_parting_are_at_no_risk() -> None:
    (parted,) = part_pairs(1, [pair(session("odd", "x", "y"), session("a", "b", "c"))], corrupt=[])

    assert len(turns_at_risk(parted, page_tokens=None)) == 1


def test_an_answer_crosses_a_page_where_its_tokens_reach_the_next() -> None:
    long = [turn(0, "a", prompt_tokens=60, completion_tokens=4)]
    short = [turn(0, "a", prompt_tokens=60, completion_tokens=3)]

    crossing = [
        turns_at_risk(each, page_tokens=64)[0].traits
        for each in part_pairs(1, [pair(long, long), pair(short, short)], corrupt=[])
    ]

    assert [sorted(traits) for traits in crossing] == [["answer crosses a page of 64 tokens"], []]


def test_later_turns_alone_make_no_association() -> None:
    """Load-backs and partings both come with turn 2, and with nothing else."""
    pairs = [
        pair(
            session("a", "odd" if index < 5 else "b", cached=[{}, {"host": 64}]),
            session("a", "b"),
            index=index,
        )
        for index in range(10)
    ]

    found = pattern(part_pairs(1, pairs, corrupt=[]))

    contrast = next(each for each in found.contrasts if each.trait == HOST)
    assert (contrast.parted_with, contrast.parted, contrast.association.strata) == (5, 5, 0)
    assert contrast.association.p_more == 1
    lines = pattern_lines(found, arm="A", reference="B")
    assert any("nowhere can the two be held" in line for line in lines)


def test_always_is_said_with_what_it_does_not_exclude() -> None:
    found = pattern(parted_pairs(9, 12, 9, 40), by_chance=(0, 40))

    lines = pattern_lines(found, arm="A", reference="B")

    assert any("always so far (up to 28.3" in line for line in lines)  # 1 - 0.05 ** (1 / 9)
    assert any("In 9 of 9 the turn that parts is the one" in line for line in lines)


def test_answers_that_part_by_chance_make_a_parting_say_little() -> None:
    found = pattern(parted_pairs(9, 12, 9, 40), by_chance=(30, 40))

    assert "a parting by itself says little" in pattern_lines(found, arm="A", reference="B")[1]


def test_nothing_in_common_is_said_and_not_counted() -> None:
    (line,) = pattern_lines(pattern([]), arm="A", reference="B")

    assert "no dialogue in common" in line
