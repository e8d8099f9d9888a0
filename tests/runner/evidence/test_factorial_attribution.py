from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest

from runner.evidence.attribution_words import attribution_sentence, removal_lines
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.factorial_attribution import Cell, Role, attribute, lower_than
from runner.evidence.silent_sessions import LaunchCounts

INSTEAD = {"index_keys": "fp8", "hicache": "off", "concurrency": "1"}
ON = {"index_keys": "bf16", "hicache": "on", "concurrency": "80"}


def matrix(
    corrupt: Callable[[Mapping[str, str], int], int], *, runs: int = 3, silent: int = 0
) -> list[Cell]:
    """All eight cells; the last one has every level on."""
    cells = []
    for chosen in product(*([INSTEAD[factor], ON[factor]] for factor in ON)):
        levels = dict(zip(ON, chosen, strict=True))
        size = 80 if levels["concurrency"] == "80" else 20
        launches = [
            LaunchCounts(size - corrupt(levels, run) - silent, corrupt(levels, run), silent)
            for run in range(runs)
        ]
        cells.append(Cell(levels, tuple(launches)))
    return cells


def only_all_on(levels: Mapping[str, str], run: int) -> int:
    return (12, 14, 11)[run] if levels == ON else 0


def test_the_case_this_was_built_for_is_told_as_a_conjunction() -> None:
    cells = matrix(only_all_on)

    attribution = attribute(cells[-1], cells, instead=INSTEAD)

    assert attribution.together == ("index_keys", "hicache", "concurrency")
    assert {removal.role for removal in attribution.removals} == {Role.NEEDED}
    assert attribution_sentence(attribution) == (
        "Corruption needs index_keys=bf16 *and* hicache=on *and* concurrency=80: 37 of 240 with "
        "all; 0 of 240 with index_keys=fp8, 0 of 240 with hicache=off, 0 of 60 with concurrency=1 "
        "(largest p = 9 × 10⁻⁵)."
    )


def test_a_level_without_which_it_fails_as_well_is_not_needed() -> None:
    def corrupt(levels: Mapping[str, str], run: int) -> int:
        failing = levels["index_keys"] == "bf16" and levels["concurrency"] == "80"
        return (12, 14, 11)[run] if failing else 0

    cells = matrix(corrupt)

    attribution = attribute(cells[-1], cells, instead=INSTEAD)

    assert attribution.together == ("index_keys", "concurrency")
    roles = {removal.factor: removal.role for removal in attribution.removals}
    assert roles["hicache"] is Role.NOT_NEEDED
    assert "does not need hicache=on" in " ".join(removal_lines(attribution))


def test_a_background_is_named_and_not_passed_over() -> None:
    def corrupt(levels: Mapping[str, str], run: int) -> int:
        if levels == ON:
            return (20, 22, 19)[run]
        return 1 if levels["concurrency"] == "80" else 0

    cells = matrix(corrupt)

    attribution = attribute(cells[-1], cells, instead=INSTEAD)

    assert "beyond a background needs" in attribution_sentence(attribution)
    assert Role.CONTRIBUTES in {removal.role for removal in attribution.removals}


def test_two_levels_that_add_up_do_not_need_each_other() -> None:
    def corrupt(levels: Mapping[str, str], run: int) -> int:
        keys, cache = levels["index_keys"] == "bf16", levels["hicache"] == "on"
        return (0, 12, 24)[keys + cache] + run % 2 if levels["concurrency"] == "80" else 0

    cells = [cell for cell in matrix(corrupt) if cell.levels["concurrency"] == "80"]
    instead = {"index_keys": "fp8", "hicache": "off"}

    attribution = attribute(cells[-1], cells, instead=instead)

    assert attribution.together == ()
    assert "not shown to need each other" in attribution_sentence(attribution)


def test_single_runs_do_not_carry_a_conjunction_of_three() -> None:
    cells = matrix(only_all_on, runs=1)

    attribution = attribute(cells[-1], cells, instead=INSTEAD)

    assert attribution.together == ()
    assert attribution_sentence(attribution).startswith("Not attributed: 12 of 80")


def test_silence_in_the_cells_without_a_level_counts_as_corruption() -> None:
    cells = matrix(only_all_on, silent=9)

    attribution = attribute(cells[-1], cells, instead=INSTEAD)

    assert attribution.together == ()


def test_a_combination_that_is_no_cell_is_named_as_untested() -> None:
    cells = [
        cell
        for cell in matrix(only_all_on)
        if (cell.levels["index_keys"], cell.levels["hicache"]) != ("fp8", "off")
    ]

    attribution = attribute(cells[-1], cells, instead=INSTEAD)

    assert ("index_keys", "hicache") in attribution.untested
    assert removal_lines(attribution)[-1] == (
        "Not tested: there is no cell without index_keys and hicache, or without index_keys and "
        "hicache and concurrency."
    )


def test_of_many_combinations_that_are_no_cells_the_smallest_are_named_and_the_rest_counted() -> (
    None
):
    single = [
        cell
        for cell in matrix(only_all_on)
        if sum(cell.levels[factor] != ON[factor] for factor in ON) < 2
    ]

    attribution = attribute(single[-1], single, instead=INSTEAD)

    assert removal_lines(attribution)[-1] == (
        "Not tested: there is no cell without index_keys and hicache, or without index_keys and "
        "concurrency, nor for 2 other combinations."
    )


def test_a_cell_without_corruption_has_nothing_to_attribute() -> None:
    cells = matrix(lambda levels, run: 0)

    with pytest.raises(ValueError, match="no session was corrupt"):
        attribute(cells[-1], cells, instead=INSTEAD)


@pytest.mark.parametrize(
    ("truth", "most"),
    [
        ((0.02, 0.02, 0.15, 0.15), 0.08),  # one level alone
        ((0.0, 0.1, 0.1, 0.2), 0.12),  # the sum of both
        ((0.1, 0.1, 0.1, 0.1), 0.05),  # neither
    ],
)
def test_what_does_not_need_both_is_rarely_said_to(
    truth: tuple[float, float, float, float], most: float
) -> None:
    """Two by two, three runs of 80 a cell, correlation 0.02; the long-run share and chance."""
    rng = np.random.default_rng(31)
    claimed, campaigns = 0, 60
    for _ in range(campaigns):
        cells = []
        for (keys, cache), rate in zip(product(("off", "on"), repeat=2), truth, strict=True):
            rates = rng.beta(rate * 49, (1 - rate) * 49, 3) if rate else np.zeros(3)
            counts = rng.binomial(80, rates)
            launches = tuple(LaunchCounts(80 - int(k), int(k), 0) for k in counts)
            cells.append(Cell({"keys": keys, "cache": cache}, launches))
        if cells[-1].totals.corrupt:
            attribution = attribute(cells[-1], cells, instead={"keys": "off", "cache": "off"})
            claimed += len(attribution.together) == 2

    assert claimed / campaigns <= most


def test_single_runs_are_compared_at_the_declared_correlation() -> None:
    without = Cell({"hicache": "off"}, (LaunchCounts(80, 0, 0),))
    failing = Cell({"hicache": "on"}, (LaunchCounts(68, 12, 0),))

    # The clean single run of the recorded verdicts: 0.0492 at an ICC of 0.05.
    assert lower_than(without, failing, rule=DecisionRule()) == pytest.approx(0.0492, abs=5e-5)
    repeated = Cell({"hicache": "on"}, failing.launches * 2)
    assert lower_than(without, repeated, rule=DecisionRule()) > 0.02


def test_one_corrupt_session_is_seen() -> None:
    failing = Cell({"hicache": "on"}, (LaunchCounts(40, 40, 0),) * 2)
    without = Cell({"hicache": "off"}, (LaunchCounts(80, 0, 0), LaunchCounts(79, 1, 0)))

    (removal,) = attribute(failing, [without], instead={"hicache": "off"}).removals

    assert removal.role is Role.CONTRIBUTES
