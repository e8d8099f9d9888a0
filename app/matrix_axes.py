"""Which factors of a campaign lie in rows, in columns and in facets of its matrix; pure.

Every arm keeps a cell of its own: what is not a column or a facet is part of the row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.cell_reading import CellReading
from db.reads.campaigns import ArmFacts

CONCURRENCY = "concurrency"


@dataclass(frozen=True, slots=True)
class Axes:
    """`rows` from the outermost factor to the innermost; `facet` None draws one matrix."""

    rows: tuple[str, ...]
    columns: str
    facet: str | None = None


@dataclass(frozen=True, slots=True)
class ChosenAxes:
    axes: Axes
    ignored: tuple[str, ...] = ()


def factors_of(arms: Sequence[ArmFacts]) -> list[str]:
    """In the order of the file; factors with one level only come last."""
    names = list(dict.fromkeys(factor for arm in arms for factor in arm.levels))
    return [*(n for n in names if varies(arms, n)), *(n for n in names if not varies(arms, n))]


def varies(arms: Sequence[ArmFacts], factor: str) -> bool:
    return len({str(arm.levels.get(factor)) for arm in arms}) > 1


def choose_axes(
    arms: Sequence[ArmFacts],
    *,
    rows: str | None = None,
    columns: str | None = None,
    facet: str | None = None,
) -> ChosenAxes:
    """The factors that are named, with defaults for those that are not, or cannot be, used."""
    known = factors_of(arms)
    default = CONCURRENCY if CONCURRENCY in known else (known or [CONCURRENCY])[-1]
    column = columns if columns in known else default
    shown = facet if facet in known and facet != column else None
    left = [factor for factor in known if factor not in (column, shown)]
    first = rows if rows in left else None
    ordered = [first, *(name for name in left if name != first)] if first else left
    asked = (("rows", rows, first), ("cols", columns, column), ("facet", facet, shown))
    ignored = [f"{name}={wish}" for name, wish, used in asked if wish is not None and wish != used]
    return ChosenAxes(Axes(tuple(ordered), column, shown), tuple(ignored))


def facets(readings: Sequence[CellReading], axes: Axes) -> list[tuple[str, list[CellReading]]]:
    """The readings of each matrix with its title; one without a title where nothing is a facet."""
    if axes.facet is None:
        return [("", list(readings))]
    by_level: dict[str, list[CellReading]] = {}
    for reading in readings:
        level = str(reading.arm.levels.get(axes.facet, "–"))
        by_level.setdefault(level, []).append(reading)
    return [(f"{axes.facet} {level}", cells) for level, cells in by_level.items()]


def level_words(arm: ArmFacts, factors: Sequence[str]) -> str:
    return " · ".join(str(arm.levels.get(factor, "–")) for factor in factors)
