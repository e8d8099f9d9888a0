"""How many runs a reduction takes, and how often it names a factor that is not needed: simulated.

    python -m tests.bench.reduction [--seeds N]

A world has factors, some of which are needed together for the fault; a run's rate follows a beta
law around that of its arm, with a correlation inside the run, and its sessions are drawn from it.
Beside it one factor at a time: each put back alone in the failing arm, decided by the same rule.
It fails where more than 5 % of the reductions of a row show a factor that is not needed.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.cause_beliefs import Change
from runner.reduce.factor_search import NothingToReduce
from runner.reduce.reduction import (
    Question,
    Reduced,
    RunSandwich,
    RunTrial,
    SandwichRuns,
    Seen,
    next_of,
    rule_of_trials,
)
from runner.reduce.standing import WEDGE_RULE, Standing, StandingRule, standing_of
from runner.reduce.trial import Trial

MOST_FALSE = 0.05
COLUMNS = (
    *("factors", "needed", "rate", "without another", "ICC", "background", "sessions", "silent"),
    *("right", "needless factor shown", "too few shown", "could not say"),
    *("runs", "in turns at the end", "one at a time", "it kept the right ones"),
)
HEADER = f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"
BY_SESSIONS = StandingRule()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`rate`, `background`: of sessions in an arm with all that is needed, and in any other.

    `silent`: share of the sessions that give no evidence, in every arm. `without_another`: what is
    left of the rate without one more factor, which makes the fault frequent and is not needed.
    """

    factors: int
    needed: int
    rate: float
    rho: float = 0.02
    background: float = 0.0
    sessions: int = 40
    silent: float = 0.0
    without_another: float = 1.0
    rule: StandingRule = BY_SESSIONS


ROWS = (
    Row(factors=3, needed=1, rate=0.5),
    Row(factors=4, needed=3, rate=0.5),
    Row(factors=6, needed=1, rate=0.5),
    Row(factors=6, needed=2, rate=0.3, rho=0.05),
    Row(factors=6, needed=2, rate=0.3, background=0.005),
    Row(factors=6, needed=2, rate=0.3, silent=0.1),
    Row(factors=6, needed=2, rate=0.5, without_another=0.3),
    Row(factors=6, needed=3, rate=0.5),
    Row(factors=8, needed=1, rate=0.15, sessions=80),
    Row(factors=8, needed=2, rate=0.5),
    Row(factors=8, needed=3, rate=0.15, sessions=80),
    Row(factors=8, needed=3, rate=0.5),
    Row(factors=10, needed=2, rate=0.3),
    Row(factors=6, needed=1, rate=1.0, rho=0.0, sessions=1, rule=WEDGE_RULE),
    Row(factors=6, needed=2, rate=0.9, rho=0.0, sessions=1, rule=WEDGE_RULE),
)


class World:
    """Draws the runs of any arm."""

    def __init__(self, row: Row, generator: np.random.Generator) -> None:
        self.row = row
        self.factors = [f"f{at}" for at in range(row.factors)]
        shuffled = [str(name) for name in generator.permutation(self.factors)]
        self.needed: Change = frozenset(shuffled[: row.needed])
        self._another = shuffled[-1]
        self._generator = generator

    def run(self, change: Change) -> LaunchCounts:
        row = self.row
        rate = row.rate if self.needed <= change else row.background
        if self._another not in change and rate == row.rate:
            rate *= row.without_another
        silent = round(row.sessions * row.silent)  # a table of e-values is made for each size
        spoke = row.sessions - silent
        corrupt = int(self._generator.binomial(spoke, self._rate_of_run(rate)))
        return LaunchCounts(spoke - corrupt, corrupt, silent)

    def _rate_of_run(self, rate: float) -> float:
        if self.row.rho == 0 or not 0 < rate < 1:
            return rate
        size = (1 - self.row.rho) / self.row.rho
        return float(self._generator.beta(rate * size, (1 - rate) * size))


class Played(NamedTuple):
    end: Reduced | NothingToReduce
    runs: int
    in_turns: int


def reduce(world: World) -> Played:
    question = Question(factors=world.factors, rule=world.row.rule, limits=lambda change: {})
    trials: dict[Trial, list[LaunchCounts]] = {}
    turns: dict[object, SandwichRuns] = {}
    while True:
        following = next_of(question, Seen(trials, turns))  # type: ignore[arg-type]
        if isinstance(following, RunTrial):
            trial = following.trial
            trials.setdefault(trial, []).append(world.run(trial.change))
        elif isinstance(following, RunSandwich):
            clean = [world.run(frozenset()) for _ in range(following.rounds)]
            reduced = [world.run(following.sandwich.change) for _ in range(following.rounds)]
            before = turns.get(following.sandwich, SandwichRuns())
            turns[following.sandwich] = SandwichRuns(
                [*before.clean, *clean][: following.rounds],
                [*before.reduced, *reduced][: following.rounds],
            )
        else:
            played = sum(map(len, trials.values()))
            return Played(following, played, sum(2 * len(each.clean) for each in turns.values()))


class OneAtATime(NamedTuple):
    kept: Change
    runs: int


def one_at_a_time(world: World) -> OneAtATime:
    """Each factor alone put back from the failing arm; no group, and nothing played again."""
    whole = frozenset(world.factors)
    question = Question(factors=world.factors, rule=world.row.rule, limits=lambda change: {})
    clean: list[LaunchCounts] = []
    failing: list[LaunchCounts] = []

    def decided(change: Change, own: list[LaunchCounts]) -> Standing:
        while True:
            rule = rule_of_trials(question, Seen({Trial(whole): failing}))
            now = standing_of(own, clean, rule)
            if now.is_final:
                return now
            lacks = own is not clean and len(clean) < len(own) and any(x.corrupt for x in own)
            (clean if lacks else own).append(world.run(frozenset() if lacks else change))

    decided(whole, failing)
    decided(frozenset(), clean)
    kept: set[str] = set()
    runs = 0
    for name in world.factors:
        own: list[LaunchCounts] = []
        if decided(whole - {name}, own) is not Standing.FLIPS:
            kept.add(name)
        runs += len(own)
    return OneAtATime(frozenset(kept), runs + len(clean) + len(failing))


def told(end: Reduced | NothingToReduce, needed: Change) -> str:
    if not isinstance(end, Reduced) or not end.smallest.is_decided or not end.holds:
        return "could not say"
    if end.smallest.change == needed:
        return "right"
    return "needless" if end.smallest.change - needed else "too few"


def bench(row: Row, *, seeds: int) -> tuple[str, float]:
    """A line of the table, and the share of reductions that show a needless factor."""
    generator = np.random.default_rng(1)
    ends: Counter[str] = Counter()
    runs = in_turns = others = others_right = 0
    for _ in range(seeds):
        world = World(row, generator)
        played, other = reduce(world), one_at_a_time(world)
        ends[told(played.end, world.needed)] += 1
        runs += played.runs
        in_turns += played.in_turns
        others += other.runs
        others_right += other.kept == world.needed
    shares = [ends[word] / seeds for word in ("right", "needless", "too few", "could not say")]
    cells = [
        *map(str, (row.factors, row.needed, row.rate)),
        f"{row.rate * row.without_another:g}",
        *map(str, (row.rho, row.background, row.sessions)),
        f"{row.silent:g}",
        *(f"{share:.3f}" for share in shares),
        *(f"{number / seeds:.1f}" for number in (runs, in_turns, others)),
        f"{others_right / seeds:.3f}",
    ]
    return f"| {' | '.join(cells)} |", shares[1]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=400)
    seeds = parser.parse_args(arguments).seeds
    began_s = time.monotonic()
    sys.stdout.write(f"{HEADER}\n")
    most_false = 0.0
    for row in ROWS:
        line, false = bench(row, seeds=seeds)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        most_false = max(most_false, false)
    took_s = time.monotonic() - began_s
    sys.stdout.write(f"\n{seeds} reductions a line, seed 1, {took_s:.0f} s.\n")
    return 1 if most_false > MOST_FALSE else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
