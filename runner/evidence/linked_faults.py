"""Whether two faults come together in time: is corruption nearer to stalls than other turns; pure.

Two permutations within runs, each blind to what the other minds. One exchanges which turns went
corrupt among the turns of one number in one run (so that what comes with later turns, or with one
run, links nothing). The other turns the clock of each run by a random amount against its events (so
that corruption in bursts counts once, not once a turn). The larger p is taken. Both are Monte Carlo
tests with the observation counted among the draws (Phipson & Smyth, Stat. Appl. Genet. Mol. Biol.
9, 2010).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias, TypeVar

import numpy as np

MOST_DRAWS = 999
LEAST_DRAWS = 199

_MOST_WORK = 10_000_000  # turns drawn; it bounds the time to a few seconds
_TIE_TOLERANCE = 1e-9
Numbers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn that gave evidence; seconds on the clock of its run."""

    run: str
    number: int
    start_s: float
    end_s: float
    is_corrupt: bool


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A wedge or an abort; an event of one moment ends where it starts."""

    run: str
    start_s: float
    end_s: float


OfRun = TypeVar("OfRun", PlayedTurn, Disturbance)


@dataclass(frozen=True, slots=True)
class LinkTest:
    """Of runs that had both corruption and disturbances. Medians are seconds to the nearest one.

    `p_exchange`, `p_clock`: one-sided, for corrupt turns being nearer.
    """

    runs: int
    corrupt: int
    others: int
    disturbances: int
    corrupt_median_s: float
    others_median_s: float
    p_exchange: float
    p_clock: float

    @property
    def p(self) -> float:
        return max(self.p_exchange, self.p_clock)


@dataclass(frozen=True, slots=True)
class Linkage:
    """`test` is None where no run had both. The counts are of all runs that were looked at."""

    runs_with_corruption: int
    runs_with_disturbance: int
    corrupt_in_quiet_runs: int  # corrupt turns of runs without any disturbance
    quiet_runs_with_corruption: int
    test: LinkTest | None


def link_faults(
    turns: Sequence[PlayedTurn], disturbances: Sequence[Disturbance], *, rng: np.random.Generator
) -> Linkage:
    """The turns of a session stand in `turns` up to the one in which it went corrupt."""
    corrupt_runs = {turn.run for turn in turns if turn.is_corrupt}
    disturbed = {each.run for each in disturbances}
    quiet = corrupt_runs - disturbed
    both = corrupt_runs & disturbed
    turns_of = _by_run(turn for turn in turns if turn.run in both)
    disturbances_of = _by_run(each for each in disturbances if each.run in both)
    return Linkage(
        runs_with_corruption=len(corrupt_runs),
        runs_with_disturbance=len(disturbed),
        corrupt_in_quiet_runs=sum(turn.is_corrupt and turn.run in quiet for turn in turns),
        quiet_runs_with_corruption=len(quiet),
        test=_test({run: turns_of[run] for run in sorted(both)}, disturbances_of, rng)
        if both
        else None,
    )


def seconds_to_nearest(
    starts: Numbers, ends: Numbers, disturbances: Sequence[Disturbance]
) -> Numbers:
    """From each turn to the nearest disturbance before, after or, at 0, within it."""
    return _to_nearest(starts, ends, _merged(disturbances))


def _by_run(parts: Iterable[OfRun]) -> dict[str, list[OfRun]]:
    found: dict[str, list[OfRun]] = {}
    for part in parts:
        found.setdefault(part.run, []).append(part)
    return found


def _to_nearest(starts: Numbers, ends: Numbers, spans: tuple[Numbers, Numbers]) -> Numbers:
    begins, finishes = spans
    place = np.searchsorted(begins, ends, side="right")  # so many began before the turn ended
    behind = starts - np.concatenate(([-np.inf], finishes))[place]
    ahead = np.concatenate((begins, [np.inf]))[place] - ends
    nearest: Numbers = np.minimum(np.maximum(behind, 0.0), np.maximum(ahead, 0.0))
    return nearest


def _merged(disturbances: Sequence[Disturbance]) -> tuple[Numbers, Numbers]:
    """Starts and ends in the order of time; what overlaps is one."""
    merged: list[list[float]] = []
    for each in sorted(disturbances, key=lambda x: x.start_s):
        if merged and each.start_s <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], each.end_s)
        else:
            merged.append([each.start_s, each.end_s])
    spans = np.array(merged)
    return spans[:, 0], spans[:, 1]


@dataclass(frozen=True, slots=True)
class _Run:
    starts: Numbers
    ends: Numbers
    is_corrupt: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"
    strata: tuple["np.ndarray[tuple[int, ...], np.dtype[np.intp]]", ...]
    disturbances: int
    spans: tuple[Numbers, Numbers]

    def seconds_to_nearest(self) -> Numbers:
        return _to_nearest(self.starts, self.ends, self.spans)

    def nearness(self, shift_s: float = 0.0) -> Numbers:
        """Log seconds to the nearest, less their mean in the stratum; low is near."""
        begin, end = float(self.starts.min()), float(self.ends.max())
        length = max(end - begin, 1e-6)
        starts = begin + (self.starts - begin + shift_s) % length
        ends = np.minimum(end, starts + (self.ends - self.starts))
        near = np.log1p(_to_nearest(starts, ends, self.spans))
        for stratum in self.strata:
            near[stratum] -= near[stratum].mean()
        return near

    def shift_s(self, rng: np.random.Generator) -> float:
        return float(rng.uniform(0.0, self.ends.max() - self.starts.min()))


def _test(
    turns: Mapping[str, Sequence[PlayedTurn]],
    disturbances: Mapping[str, Sequence[Disturbance]],
    rng: np.random.Generator,
) -> LinkTest:
    runs = [_run(turns[name], disturbances[name]) for name in turns]
    seconds = [run.seconds_to_nearest() for run in runs]
    pairs = list(zip(seconds, runs, strict=True))
    corrupt = [float(x) for few, run in pairs for x in few[run.is_corrupt]]
    others = [float(x) for few, run in pairs for x in few[~run.is_corrupt]]
    nearness = [run.nearness() for run in runs]
    draws = max(LEAST_DRAWS, min(MOST_DRAWS, _MOST_WORK // (len(corrupt) + len(others))))
    observed = sum(float(x[run.is_corrupt].sum()) for x, run in zip(nearness, runs, strict=True))
    return LinkTest(
        runs=len(runs),
        corrupt=len(corrupt),
        others=len(others),
        disturbances=sum(run.disturbances for run in runs),
        corrupt_median_s=median(corrupt),
        others_median_s=median(others) if others else 0.0,
        p_exchange=_share_as_low(_exchanged(runs, nearness, rng, draws=draws), observed),
        p_clock=_share_as_low(_turned(runs, rng, draws=draws), observed),
    )


def _run(turns: Sequence[PlayedTurn], disturbances: Sequence[Disturbance]) -> _Run:
    numbers = np.array([turn.number for turn in turns])
    return _Run(
        starts=np.array([turn.start_s for turn in turns]),
        ends=np.array([turn.end_s for turn in turns]),
        is_corrupt=np.array([turn.is_corrupt for turn in turns]),
        strata=tuple(np.flatnonzero(numbers == number) for number in np.unique(numbers)),
        disturbances=len(disturbances),
        spans=_merged(disturbances),
    )


def _exchanged(
    runs: Sequence[_Run], nearness: Sequence[Numbers], rng: np.random.Generator, *, draws: int
) -> Numbers:
    """The statistic where other turns of each stratum had gone corrupt."""
    total = np.zeros(draws)
    for run, near in zip(runs, nearness, strict=True):
        for stratum in run.strata:
            corrupt = int(run.is_corrupt[stratum].sum())
            if 0 < corrupt < len(stratum):
                of_stratum = near[stratum]
                for draw in range(draws):
                    chosen = rng.choice(len(stratum), corrupt, replace=False, shuffle=False)
                    total[draw] += of_stratum[chosen].sum()
    return total


def _turned(runs: Sequence[_Run], rng: np.random.Generator, *, draws: int) -> Numbers:
    """The statistic where the clock of each run stood otherwise against its disturbances."""
    drawn = [
        sum(float(run.nearness(run.shift_s(rng))[run.is_corrupt].sum()) for run in runs)
        for _ in range(draws)
    ]
    return np.array(drawn)


def _share_as_low(drawn: Numbers, observed: float) -> float:
    limit = observed + _TIE_TOLERANCE * (1 + abs(observed))
    return (1 + int((drawn <= limit).sum())) / (1 + len(drawn))
