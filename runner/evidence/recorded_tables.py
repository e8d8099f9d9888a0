"""Recorded 2x2 tables and sequences with the right answers: computes each and says what differs.

The format is that of `statistics_vectors.json`: tables with x1 of n1 (after) and x2 of n2 (before)
and named quantities, two-sided intervals at 1 - `alpha`; sequences of sessions as strings of 0 and
1. A `tolerance` in the file's `meta` stands over the one given here.
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
from runner.evidence.given_numbers import agrees, share, whole_number
from runner.evidence.proportion_limits import clopper_pearson, jeffreys, zero_upper_limit
from runner.evidence.rates import CONFIDENCE, Rate
from runner.evidence.ratio_intervals import katz_ratio, koopman_ratio
from runner.evidence.two_sample_process import two_sample_e_value

Quantity: TypeAlias = float | tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a computed number may lie from the given one."""

    interval: float = 1e-6
    p_value: float = 1e-5
    published: float = 6e-5

    def of(self, quantity: str) -> float:
        is_p = "fisher" in quantity or "boschloo" in quantity
        return self.p_value if is_p else self.interval


TOLERANCE = Tolerance()


@dataclass(frozen=True, slots=True)
class Difference:
    """One number that is not as the file gives it; `computed` is None where none exists."""

    case: str
    quantity: str
    given: Any
    computed: Any


@dataclass(frozen=True, slots=True)
class NotComputed:
    """An entry that has no meaning here, so that nothing can be said of it."""

    case: str
    quantity: str


Entry: TypeAlias = Difference | NotComputed | None
"""What became of one entry of a file; None where it agrees."""


@dataclass(frozen=True, slots=True)
class Table:
    first: Rate
    second: Rate
    confidence: float = CONFIDENCE

    @property
    def counted(self) -> tuple[Counted, Counted]:
        """One run an arm."""
        return (
            Counted(self.first.count, (self.first.of,)),
            Counted(self.second.count, (self.second.of,)),
        )

    @property
    def rates(self) -> tuple[Rate, Rate]:
        return self.first, self.second

    @property
    def cells(self) -> tuple[int, int, int, int]:
        return self.first.count, self.first.of, self.second.count, self.second.of


_OF_TABLES: Mapping[str, Callable[[Table], Quantity]] = {
    "wilson_arm1": lambda t: t.first.wilson(t.confidence),
    "wilson_arm2": lambda t: t.second.wilson(t.confidence),
    "clopper_pearson_arm1": lambda t: clopper_pearson(t.first, t.confidence),
    "clopper_pearson_arm2": lambda t: clopper_pearson(t.second, t.confidence),
    "jeffreys_arm1": lambda t: jeffreys(t.first, t.confidence),
    "jeffreys_arm2": lambda t: jeffreys(t.second, t.confidence),
    "newcombe_diff": lambda t: newcombe_difference(*t.rates, confidence=t.confidence),
    "agresti_caffo_diff": lambda t: agresti_caffo_difference(*t.rates, confidence=t.confidence),
    "miettinen_nurminen_diff": lambda t: miettinen_nurminen_difference(
        *t.rates, confidence=t.confidence
    ),
    "mee_diff": lambda t: mee_difference(*t.rates, confidence=t.confidence),
    "koopman_ratio": lambda t: koopman_ratio(*t.rates, confidence=t.confidence),
    "katz_ratio": lambda t: katz_ratio(*t.rates, confidence=t.confidence),
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


def table_differences(
    table: Mapping[str, Any], tolerance: Tolerance = TOLERANCE
) -> Iterator[tuple[str, Entry]]:
    """Each quantity of a table as the file has it, with what became of it.

    Raises KeyError or ValueError for what is not in the format.
    """
    case = str(table["id"])
    cells = (whole_number(table[name], name=name) for name in ("x1", "n1", "x2", "n2"))
    x1, n1, x2, n2 = cells
    confidence = 1 - share(table.get("alpha", 1 - CONFIDENCE), name="alpha")
    rates = Table(Rate(x1, n1), Rate(x2, n2), confidence)
    for name, entry in table["values"].items():
        entry = entry if isinstance(entry, Mapping) else {"value": entry}
        given = entry["value"]
        try:
            computed = table_quantity(name, rates)
        except KeyError:
            yield name, NotComputed(case, name)
            continue
        fits = _fits(computed, given, tolerance=tolerance.of(name))
        published = entry.get("published")
        if fits and published is not None:
            fits = _fits(computed, published["value"], tolerance=tolerance.published)
            given = given if fits else published["value"]
        yield name, None if fits else Difference(case, name, given, computed)


def sequence_differences(
    sequence: Mapping[str, Any], tolerance: Tolerance = TOLERANCE
) -> Iterator[tuple[str, Entry]]:
    """The e-value of both arms and the confidence sequence of each at its end."""
    case = str(sequence["id"])
    first, second = (_sessions(sequence[arm], name=arm) for arm in ("after", "before"))
    computed: dict[str, Quantity] = {
        "safestats_e_two_sided_prior_0.18": two_sample_e_value(first, second),
        "cs_beta_after_95": beta_mixture_sequence(sum(first), len(first)),
        "cs_beta_before_95": beta_mixture_sequence(sum(second), len(second)),
    }
    for name, given in sequence.items():
        if name in ("id", "after", "before") or is_remark(name):
            continue
        if name not in computed:
            yield name, NotComputed(case, name)
            continue
        fits = _fits(computed[name], given, tolerance=tolerance.interval)
        yield name, None if fits else Difference(case, name, given, computed[name])


def is_remark(name: str) -> bool:
    """Whether an entry of this name is for readers and says nothing to be checked."""
    return name.startswith(("_", "$")) or name.rstrip("s") in (
        "note",
        "comment",
        "source",
        "remark",
    )


def _sessions(given: Any, *, name: str) -> list[bool]:
    """From `0100` or a list of 0 and 1."""
    words = [str(word) for word in given]
    if not set(words) <= {"0", "1"}:
        raise ValueError(f"{name} is a sequence of 0 and 1")
    return [word == "1" for word in words]


def _upper(rate: Rate, rho: float) -> float:
    return clustered_upper_limit(rate.count, (rate.of,), rho=rho)


def _fits(computed: Quantity, given: Any, *, tolerance: float) -> bool:
    if computed is None or given is None:
        return computed is given
    if not isinstance(computed, tuple):
        return agrees(computed, given, tolerance=tolerance)
    if not isinstance(given, list) or len(given) != len(computed):
        return False
    return all(agrees(c, g, tolerance=tolerance) for c, g in zip(computed, given, strict=True))
