"""How a number is lowered while the arm still flips."""

from collections.abc import Callable

import pytest

from runner.reduce.load_search import Lowered, lowered
from runner.reduce.standing import Standing


def edge_at(edge: int, asked: list[int]) -> Callable[[int], Standing]:
    def standing(amount: int) -> Standing:
        asked.append(amount)
        return Standing.FLIPS if amount >= edge else Standing.LEANS_TO_CLEAN

    return standing


@pytest.mark.parametrize(("start", "edge"), [(80, 1), (80, 7), (80, 33), (80, 80), (4, 2), (2, 2)])
def test_the_amount_found_flips_and_is_within_a_fifth_of_the_edge(start: int, edge: int) -> None:
    asked: list[int] = []

    found = lowered(start, 1, edge_at(edge, asked))

    assert found.is_known
    assert edge <= found.amount <= max(edge / 0.8, edge + 1)
    assert len(asked) == len(set(asked)) <= 8


def test_nothing_is_asked_where_nothing_can_be_lower() -> None:
    asked: list[int] = []

    assert lowered(5, 5, edge_at(5, asked)) == Lowered(5, is_known=True)
    assert asked == []


def test_an_open_amount_is_to_be_tried_and_an_undecided_one_is_given_up() -> None:
    assert lowered(80, 1, lambda amount: Standing.OPEN) == Lowered(1, is_known=False)
    assert lowered(80, 1, lambda amount: Standing.LEANS_TO_FLIP) == Lowered(1, is_known=False)
    assert lowered(80, 1, lambda amount: Standing.UNDECIDED) == Lowered(80, is_known=True)
