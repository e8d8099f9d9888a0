"""Which levels corruption needs, from the cells of a factorial: a statement about cells.

A level is tried by the cell that differs in it alone. Several are needed together where the failing
cell is higher than every cell that lacks some of them, each comparison at alpha without correction
(intersection-union: Berger, Technometrics 24, 1982), and where the excess is more than the single
levels add up to. Odds ratios are no help here: three empty cells leave their interaction undefined.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from runner.evidence.arm_comparison import ArmTotals, best_clusters, worst_clusters
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES, lower_rate
from runner.evidence.risk_difference import RiskDifference, excess_over_sum
from runner.evidence.session_correlation import assumed_rho, icc_anova
from runner.evidence.silent_sessions import LaunchCounts


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm of the matrix with its levels as text; `launches` has sessions."""

    levels: Mapping[str, str]
    launches: tuple[LaunchCounts, ...]

    @property
    def totals(self) -> ArmTotals:
        return ArmTotals(self.launches)


class Role(StrEnum):
    """What taking one level away did.

    `needed`: corruption is lower and none was seen. `contributes`: lower, and some was seen.
    `not_needed`: some was seen, and it is not shown lower. `unclear`: neither.
    """

    NEEDED = "needed"
    CONTRIBUTES = "contributes"
    NOT_NEEDED = "not_needed"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Removal:
    """The failing cell without one level; `p` that corruption is lower there."""

    factor: str
    level: str
    instead: str
    cell: Cell
    p: float
    role: Role


@dataclass(frozen=True, slots=True)
class Attribution:
    """`together`: the levels that were shown to be needed jointly, empty if that was not shown.

    `largest_p` is that of the conjunction; `excesses` are its risk-difference checks; `untested`
    names the combinations whose cell is not in the matrix.
    """

    failing: Cell
    removals: tuple[Removal, ...]
    together: tuple[str, ...]
    largest_p: float
    excesses: tuple[RiskDifference, ...]
    untested: tuple[tuple[str, ...], ...]


def attribute(
    failing: Cell,
    cells: Sequence[Cell],
    *,
    instead: Mapping[str, str],
    rule: DecisionRule | None = None,
) -> Attribution:
    """`instead` has, for each factor in question, the level that stands for "without it".

    Raises ValueError where the failing cell saw no corruption.
    """
    rule = rule or DecisionRule()
    if failing.totals.corrupt == 0:
        raise ValueError("nothing can be attributed where no session was corrupt")
    removals = tuple(_removals(failing, cells, instead, rule))
    lowering = [r.factor for r in removals if r.role in (Role.NEEDED, Role.CONTRIBUTES)]
    largest_p, untested = _conjunction(failing, cells, instead, lowering, rule)
    excesses = tuple(_excesses(failing, cells, instead, lowering, rule))
    holds = (
        len(lowering) > 0
        and largest_p <= rule.alpha_of_direction
        and all(excess.limits.low > 0 for excess in excesses)
    )
    return Attribution(
        failing=failing,
        removals=removals,
        together=tuple(lowering) if holds else (),
        largest_p=largest_p,
        excesses=excesses,
        untested=untested,
    )


def lower_than(cell: Cell, failing: Cell, *, rule: DecisionRule) -> float:
    """P-value of "corruption is lower in `cell`", in the worst case against it."""
    first, second = cell.totals, failing.totals
    clusters = worst_clusters(first), best_clusters(second)
    repeated = min(len(each) for each in clusters) >= RUNS_TO_COMPARE_RATES
    rho = cell_rho(cell, failing, rule=rule, repeated=repeated)
    return lower_rate(*clusters, rho=rho).p


def cell_rho(*cells: Cell, rule: DecisionRule, repeated: bool) -> float:
    """The correlation assumed for these cells together."""
    icc = icc_anova([best_clusters(cell.totals) for cell in cells])
    return assumed_rho(icc, repeated=repeated, floor=rule.rho_floor, single=rule.rho_single)


def cell_without(
    failing: Cell, cells: Sequence[Cell], factors: Sequence[str], instead: Mapping[str, str]
) -> Cell | None:
    """The cell that differs from the failing one in exactly these factors."""
    wanted = {**failing.levels, **{factor: instead[factor] for factor in factors}}
    return next((cell for cell in cells if dict(cell.levels) == wanted), None)


def _removals(
    failing: Cell, cells: Sequence[Cell], instead: Mapping[str, str], rule: DecisionRule
) -> Iterator[Removal]:
    for factor, level in instead.items():
        cell = cell_without(failing, cells, [factor], instead)
        if cell is None or not cell.totals.sessions or level == failing.levels[factor]:
            continue
        p = lower_than(cell, failing, rule=rule)
        lower = p <= rule.alpha_of_direction
        seen = cell.totals.corrupt > 0
        role = {
            (True, False): Role.NEEDED,
            (True, True): Role.CONTRIBUTES,
            (False, True): Role.NOT_NEEDED,
            (False, False): Role.UNCLEAR,
        }[lower, seen]
        yield Removal(factor, failing.levels[factor], level, cell, p, role)


def _conjunction(
    failing: Cell,
    cells: Sequence[Cell],
    instead: Mapping[str, str],
    factors: Sequence[str],
    rule: DecisionRule,
) -> tuple[float, tuple[tuple[str, ...], ...]]:
    """The largest p-value over every cell that lacks some of the factors, and what is no cell."""
    largest, untested = 0.0, []
    for taken in _subsets(factors):
        cell = cell_without(failing, cells, taken, instead)
        if cell is None or not cell.totals.sessions:
            untested.append(taken)
            continue
        largest = max(largest, lower_than(cell, failing, rule=rule))
    return (largest if factors else 1.0), tuple(untested)


def _excesses(
    failing: Cell,
    cells: Sequence[Cell],
    instead: Mapping[str, str],
    factors: Sequence[str],
    rule: DecisionRule,
) -> Iterator[RiskDifference]:
    """For each two factors, with all others as in the failing cell."""
    for pair in combinations(factors, 2):
        one, other = (cell_without(failing, cells, [factor], instead) for factor in pair)
        neither = cell_without(failing, cells, pair, instead)
        if one is None or other is None:
            continue
        present = [failing, one, other, *([neither] if neither else [])]
        repeated = min(len(cell.launches) for cell in present) >= RUNS_TO_COMPARE_RATES
        yield excess_over_sum(
            pair,
            both=best_clusters(failing.totals),
            first=worst_clusters(one.totals),
            second=worst_clusters(other.totals),
            neither=best_clusters(neither.totals) if neither else (),
            rho=cell_rho(*present, rule=rule, repeated=repeated),
            alpha=rule.alpha_of_direction,
        )


def _subsets(factors: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(factors) + 1):
        yield from combinations(factors, size)
