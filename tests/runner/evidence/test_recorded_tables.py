from math import isclose, isinf
from typing import Any

import pytest

from runner.evidence.rates import Rate
from runner.evidence.recorded_tables import (
    Difference,
    NotComputed,
    Table,
    sequence_differences,
    table_differences,
    table_quantity,
)
from tests.runner.evidence.recorded_answers import statistics_vectors, table

TABLES = statistics_vectors()["tables"]
SEQUENCES = statistics_vectors()["sequences"]


@pytest.mark.parametrize("recorded", TABLES, ids=lambda recorded: recorded["id"])
def test_every_quantity_of_every_table_is_as_recorded(recorded: dict[str, Any]) -> None:
    differences = dict(table_differences(recorded))

    assert len(differences) == len(recorded["values"]) >= 18
    assert [each for each in differences.values() if each] == []


@pytest.mark.parametrize("recorded", TABLES, ids=lambda recorded: recorded["id"])
def test_even_tiny_p_values_and_limits_agree_in_all_leading_digits(
    recorded: dict[str, Any],
) -> None:
    rates = Table(Rate(recorded["x1"], recorded["n1"]), Rate(recorded["x2"], recorded["n2"]))
    for name, entry in recorded["values"].items():
        computed, given = table_quantity(name, rates), entry["value"]
        pairs = (
            zip(computed, given, strict=True)
            if isinstance(computed, tuple)
            else [(computed, given)]
        )
        for got, right in pairs:
            right = float(right)
            assert isclose(got, right, rel_tol=1e-7, abs_tol=1e-12) or isinf(got) == isinf(right), (
                name
            )


@pytest.mark.parametrize("recorded", SEQUENCES, ids=lambda recorded: recorded["id"])
def test_every_sequence_has_the_recorded_e_value_and_interval(recorded: dict[str, Any]) -> None:
    differences = dict(sequence_differences(recorded))

    assert set(differences) == {"safestats_e_two_sided_prior_0.18", "cs_beta_after_95"}
    assert [each for each in differences.values() if each] == []


def test_a_changed_number_is_named_with_what_it_should_be() -> None:
    recorded = table("T13")
    changed = {**recorded, "values": {"newcombe_diff": {"value": [-0.188107, 0.01032]}}}

    (difference,) = dict(table_differences(changed)).values()

    assert isinstance(difference, Difference)
    assert (difference.case, difference.quantity) == ("T13", "newcombe_diff")
    assert difference.computed == pytest.approx((-0.18810761, 0.01031093), abs=1e-8)


def test_a_published_number_is_compared_too() -> None:
    recorded = table("T01")
    entry = recorded["values"]["mee_diff"]
    published = {**entry, "published": {"value": [0.0533, 0.3379]}}

    (difference,) = dict(
        table_differences({**recorded, "values": {"mee_diff": published}})
    ).values()

    assert isinstance(difference, Difference) and difference.given == [0.0533, 0.3379]


def test_a_quantity_of_another_name_is_no_pass() -> None:
    changed = {**table("T13"), "values": {"banana_diff": {"value": 0.5}}}

    assert dict(table_differences(changed)) == {"banana_diff": NotComputed("T13", "banana_diff")}


def test_an_unknown_quantity_of_a_sequence_is_no_pass() -> None:
    entries = sequence_differences({"id": "S", "after": "01", "before": "10", "cs_hedged": [0, 1]})

    assert dict(entries) == {"cs_hedged": NotComputed("S", "cs_hedged")}
