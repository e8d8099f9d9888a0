"""A model of the world for the bench of the verdicts: what runs can come to, from a seed.

Run rates follow a beta law with a correlation inside runs; silence has three causes: chance, a
wedge that cuts a run short, and corruption that hides among the errors. All of it is made up, and
says what the verdict does if the world is like this, not what the world is like.
"""

from dataclasses import dataclass

import numpy as np

from runner.evidence.silent_sessions import LaunchCounts

SESSIONS = 80
_ROUNDS = (8, 21)  # of a session, uniform
_MEAN_ROUNDS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`rate_after` and `rate_before` are true corrupt rates of whole sessions.

    `hidden`: the share of the changed arm's corrupt sessions that end as errors instead. `errors`:
    the share of sessions that fail by chance, in both arms. `early_wedge`: every run of the changed
    arm wedges before its first clean session ends. `drift`: the rate of both arms goes from this
    factor to the inverse of it over the campaign. `bad_runs`: instead of the beta law, a quarter of
    the runs has four times the rate.
    """

    rate_after: float
    rate_before: float
    rho: float = 0.0
    hidden: float = 0.0
    errors: float = 0.0
    early_wedge: bool = False
    drift: float = 1.0
    bad_runs: bool = False


@dataclass(frozen=True, slots=True)
class Campaign:
    after: list[LaunchCounts]
    before: list[LaunchCounts]
    wedges: int


def play(world: World, *, runs_after: int, runs_before: int, rng: np.random.Generator) -> Campaign:
    """One campaign, its runs in random order inside blocks."""
    order = _blocks(runs_after, runs_before, rng)
    arms: dict[str, list[LaunchCounts]] = {"after": [], "before": []}
    for place, arm in enumerate(order):
        at = place / max(1, len(order) - 1)
        rate = world.rate_after if arm == "after" else world.rate_before
        rate = min(0.95, rate * world.drift ** (1 - 2 * at))
        changed = arm == "after"
        arms[arm].append(_run(_run_rate(rate, world, rng), world, changed=changed, rng=rng))
    return Campaign(arms["after"], arms["before"], runs_after if world.early_wedge else 0)


def first_corrupt_share(rate: float, rng: np.random.Generator) -> float | None:
    """The part of a run after which its first corrupt session has ended; None: there is none."""
    rounds = rng.integers(*_ROUNDS, SESSIONS)
    corrupt_at = rng.geometric(_hazard(rate), SESSIONS)
    ends = corrupt_at[corrupt_at <= rounds]
    return float(ends.min() / rounds.max()) if len(ends) else None


def _blocks(runs_after: int, runs_before: int, rng: np.random.Generator) -> list[str]:
    order: list[str] = []
    for block in range(max(runs_after, runs_before)):
        block_runs = ["after"] * (block < runs_after) + ["before"] * (block < runs_before)
        rng.shuffle(block_runs)
        order += block_runs
    return order


def _run_rate(rate: float, world: World, rng: np.random.Generator) -> float:
    if rate == 0.0:
        return 0.0
    if world.bad_runs:
        return min(1.0, 4 * rate) if rng.random() < 0.25 else 0.0
    if world.rho == 0.0:
        return rate
    scale = 1 / world.rho - 1
    return float(rng.beta(rate * scale, (1 - rate) * scale))


def _run(rate: float, world: World, *, changed: bool, rng: np.random.Generator) -> LaunchCounts:
    if world.early_wedge and changed:
        rounds = rng.integers(*_ROUNDS, SESSIONS)
        corrupt_at = rng.geometric(_hazard(rate), SESSIONS) if rate else np.full(SESSIONS, 999)
        cut_at = rng.integers(1, rounds.min())
        corrupt = int((corrupt_at <= cut_at).sum())
        return LaunchCounts(0, corrupt, SESSIONS - corrupt)
    corrupt = int(rng.binomial(SESSIONS, rate))
    hidden = int(rng.binomial(corrupt, world.hidden)) if changed else 0
    clean = SESSIONS - corrupt
    failed_clean = int(rng.binomial(clean, world.errors))
    failed_corrupt = int(rng.binomial(corrupt - hidden, world.errors))
    silent = hidden + failed_clean + failed_corrupt
    return LaunchCounts(clean - failed_clean, corrupt - hidden - failed_corrupt, silent)


def _hazard(rate: float) -> float:
    """Per round, so that a session of mean length is corrupt with this rate."""
    return float(1 - (1 - min(rate, 0.999)) ** (1 / _MEAN_ROUNDS))
