"""Recorded 2x2 tables and sequences with the right answers: computes each and says what differs.

The format is that of `statistics_vectors.json`: tables with x1 of n1 (after) and x2 of n2 (before)
and named quantities; sequences of sessions as strings of 0 and 1.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from runner.evidence.boschloo import Counted, boschloo_less, boschloo_two_sided
from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.confidence_sequence import beta_mixture_sequence
from runner.evidence.difference_intervals import (
    agresti_caffo_difference,
    mee_difference,
    miettinen_nurminen_difference,
    newcombe_difference,
)
from runner.evidence.fisher import fisher_less, fisher_two_sided
from runner.evidence.given_numbers import agrees
from runner.evidence.proportion_limits import clopper_pearson, jeffreys, zero_upper_limit
from runner.evidence.rates import Rate
from runner.evidence.ratio_intervals import katz_ratio, koopman_ratio
from runner.evidence.two_sample_process import two_sample_e_value

INTERVAL_TOLERANCE = 1e-6
P_VALUE_TOLERANCE = 1e-5
PUBLISHED_TOLERANCE = 6e-5

Quantity: TypeAlias = float | tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One number that is not as the file gives it; `computed` is None where none exists."""

    case: str
    quantity: str
    given: Any
    computed: Any


@dataclass(frozen=True, slots=True)
class Table:
    first: Rate
    second: Rate

    @property
    def counted(self) -> tuple[Counted, Counted]:
        """One run an arm."""
        return (
            Counted(self.first.count, (self.first.of,)),
            Counted(self.second.count, (self.second.of,)),
        )

    @property
    def cells(self) -> tuple[int, int, int, int]:
        return self.first.count, self.first.of, self.second.count, self.second.of


_OF_TABLES: Mapping[str, Callable[[Table], Quantity]] = {
    "wilson_arm1": lambda t: t.first.wilson(),
    "wilson_arm2": lambda t: t.second.wilson(),
    "clopper_pearson_arm1": lambda t: clopper_pearson(t.first),
    "clopper_pearson_arm2": lambda t: clopper_pearson(t.second),
    "jeffreys_arm1": lambda t: jeffreys(t.first),
    "jeffreys_arm2": lambda t: jeffreys(t.second),
    "newcombe_diff": lambda t: newcombe_difference(t.first, t.second),
    "agresti_caffo_diff": lambda t: agresti_caffo_difference(t.first, t.second),
    "miettinen_nurminen_diff": lambda t: miettinen_nurminen_difference(t.first, t.second),
    "mee_diff": lambda t: mee_difference(t.first, t.second),
    "koopman_ratio": lambda t: koopman_ratio(t.first, t.second),
    "katz_ratio": lambda t: katz_ratio(t.first, t.second),
    "fisher_two_sided": lambda t: fisher_two_sided(*t.cells),
    "fisher_less": lambda t: fisher_less(*t.cells),
    "boschloo_less": lambda t: boschloo_less(*t.counted),
    "boschloo_greater": lambda t: boschloo_less(*reversed(t.counted)),
    "boschloo_two_sided_central": lambda t: boschloo_two_sided(*t.counted),
}
_OF_ARMS: Mapping[str, Callable[[Rate], Quantity]] = {
    "zero_upper95_one_sided": lambda rate: None if rate.count else zero_upper_limit(rate.of),
}
_CORRELATED: Mapping[str, Callable[[Table, float], Quantity]] = {
    "bb_boschloo_less": lambda t, rho: boschloo_less(*t.counted, rho=rho),
    "bb_boschloo_greater": lambda t, rho: boschloo_less(*reversed(t.counted), rho=rho),
    "bb_upper95_arm1": lambda t, rho: _upper(t.first, rho),
    "bb_upper95_arm2": lambda t, rho: _upper(t.second, rho),
}


def table_quantity(name: str, table: Table) -> Quantity:
    """Raises KeyError for a quantity of another name; None where the quantity does not exist."""
    correlated = re.fullmatch(r"(.+)_rho([0-9.]+)", name)
    if correlated:
        return _CORRELATED[correlated[1]](table, float(correlated[2]))
    of_arm = re.fullmatch(r"(.+)_arm([12])", name)
    if of_arm and of_arm[1] in _OF_ARMS:
        return _OF_ARMS[of_arm[1]](table.first if of_arm[2] == "1" else table.second)
    return _OF_TABLES[name](table)


def table_differences(table: Mapping[str, Any]) -> Iterator[tuple[str, Difference | None]]:
    """Each quantity of a table as the file has it, with what differs or None."""
    case = str(table["id"])
    rates = Table(Rate(table["x1"], table["n1"]), Rate(table["x2"], table["n2"]))
    for name, entry in table["values"].items():
        given = entry["value"]
        try:
            computed = table_quantity(name, rates)
        except KeyError:
            yield name, Difference(case, name, given, None)
            continue
        fits = _fits(computed, given, tolerance=_tolerance(name))
        published = entry.get("published")
        if fits and published is not None:
            fits = _fits(computed, published["value"], tolerance=PUBLISHED_TOLERANCE)
            given = given if fits else published["value"]
        yield name, None if fits else Difference(case, name, given, computed)


def sequence_differences(sequence: Mapping[str, Any]) -> Iterator[tuple[str, Difference | None]]:
    """The e-value of both arms and the confidence sequence of the first at its end."""
    case = str(sequence["id"])
    first, second = ([word == "1" for word in sequence[arm]] for arm in ("after", "before"))
    computed: dict[str, Quantity] = {
        "safestats_e_two_sided_prior_0.18": two_sample_e_value(first, second),
        "cs_beta_after_95": beta_mixture_sequence(sum(first), len(first)),
        "cs_beta_before_95": beta_mixture_sequence(sum(second), len(second)),
    }
    for name, given in sequence.items():
        if name in ("id", "after", "before", "sources", "note"):
            continue
        value = computed.get(name)
        fits = _fits(value, given, tolerance=INTERVAL_TOLERANCE)
        yield name, None if fits else Difference(case, name, given, value)


def _upper(rate: Rate, rho: float) -> float:
    return clustered_upper_limit(rate.count, (rate.of,), rho=rho)


def _tolerance(name: str) -> float:
    return P_VALUE_TOLERANCE if "fisher" in name or "boschloo" in name else INTERVAL_TOLERANCE


def _fits(computed: Quantity, given: Any, *, tolerance: float) -> bool:
    if computed is None or given is None:
        return computed is given
    if not isinstance(computed, tuple):
        return agrees(computed, given, tolerance=tolerance)
    if not isinstance(given, list) or len(given) != len(computed):
        return False
    return all(agrees(c, g, tolerance=tolerance) for c, g in zip(computed, given, strict=True))
