"""Which arms the next block runs, where the budget does not reach for all of them.

Searching clean arms races: an arm leaves at its first corrupt session, and is accepted once enough
were clean. Searching the worst arm samples (top-two Thompson). The baseline runs in every block,
because an arm that is chosen by what was seen before is otherwise confounded with time; the winner
is tested again by a fresh fixed plan.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np

from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.session_correlation import FLOOR_OF_REPEATED_RUNS, design_effect
from runner.evidence.silent_sessions import LaunchCounts

_TOP = 0.5  # how often the arm that looks worst is itself chosen
_MOST_DRAWS = 200


class RaceState(StrEnum):
    RUNNING = "running"
    DROPPED = "dropped"
    ACCEPTED = "accepted"


def race_state(
    launches: Sequence[LaunchCounts], *, p_max: float = 0.05, rho: float = 0.0
) -> RaceState:
    """Silent sessions are no evidence: they neither drop an arm nor help to accept it."""
    if any(launch.corrupt for launch in launches):
        return RaceState.DROPPED
    sizes = [launch.clean for launch in launches if launch.clean]
    if sizes and clustered_upper_limit(0, sizes, rho=rho) <= p_max:
        return RaceState.ACCEPTED
    return RaceState.RUNNING


def next_in_race(
    arms: Mapping[str, Sequence[LaunchCounts]],
    *,
    places: int,
    rng: np.random.Generator,
    p_max: float = 0.05,
    rho: float = 0.0,
) -> tuple[str, ...]:
    """Up to `places` arms still running, those with the fewest clean sessions first."""
    running = [
        name
        for name, launches in arms.items()
        if race_state(launches, p_max=p_max, rho=rho) is RaceState.RUNNING
    ]
    rng.shuffle(running)  # breaks ties without favour
    running.sort(key=lambda name: sum(launch.clean for launch in arms[name]))
    return tuple(running[:places])


def top_two(
    arms: Mapping[str, Sequence[LaunchCounts]],
    *,
    rng: np.random.Generator,
    rho: float = FLOOR_OF_REPEATED_RUNS,
) -> str:
    """The arm to run next in the search for the worst one.

    Thompson sampling with a second draw until another arm wins, half of the time (Russo,
    Operations Research 68, 2020). Sessions count by the design effect of their run.
    """
    names = list(arms)
    if not names:
        raise ValueError("there is no arm to choose from")
    posteriors = [_posterior(arms[name], rho=rho) for name in names]
    first = _worst(posteriors, rng)
    if len(names) == 1 or rng.random() < _TOP:
        return names[first]
    for _ in range(_MOST_DRAWS):
        second = _worst(posteriors, rng)
        if second != first:
            return names[second]
    others = [i for i in range(len(names)) if i != first]
    return names[int(rng.choice(others))]


def block_of(chosen: Sequence[str], *, baseline: str, rng: np.random.Generator) -> tuple[str, ...]:
    """The runs of one block in random order, the baseline once among them."""
    block = [baseline, *(name for name in chosen if name != baseline)]
    rng.shuffle(block)
    return tuple(block)


def _posterior(launches: Sequence[LaunchCounts], *, rho: float) -> tuple[float, float]:
    """Beta(1/2, 1/2) and the effective corrupt and clean sessions."""
    corrupt, clean = 0.5, 0.5
    for launch in launches:
        if launch.evidence:
            effect = design_effect(launch.evidence, rho)
            corrupt += launch.corrupt / effect
            clean += launch.clean / effect
    return corrupt, clean


def _worst(posteriors: Sequence[tuple[float, float]], rng: np.random.Generator) -> int:
    return int(np.argmax([rng.beta(a, b) for a, b in posteriors]))
