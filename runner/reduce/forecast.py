"""About how many runs a reduction still takes, by playing it to its end in mind. Pure.

Two ends: the cause is the set that is likeliest now, or it is everything that is still in question.
"""

from collections.abc import Mapping
from typing import NamedTuple

from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.cause_beliefs import Change, beliefs_within
from runner.reduce.factor_search import smallest_failing
from runner.reduce.reduction import (
    Question,
    RunSandwich,
    RunTrial,
    SandwichRuns,
    Seen,
    known_standings,
    next_of,
)
from runner.reduce.trial import Load, Trial

MOST_FORECAST = 150
_ASSUMED_RATE = 0.3
_LOAD_THAT_FLIPS = 0.5


class Forecast(NamedTuple):
    least_runs: int
    most_runs: int


def forecast(question: Question, seen: Seen, *, trials_a_run: int) -> Forecast:
    """`trials_a_run`: sessions of a run, or 1 where the run itself is the trial."""
    known = known_standings(question, seen)
    failing = smallest_failing(question.factors, known)
    likeliest = beliefs_within(failing, question.factors, known).likeliest.change
    counts = [_runs_to_go(question, seen, cause, trials_a_run) for cause in (likeliest, failing)]
    return Forecast(min(counts), max(counts))


def _runs_to_go(question: Question, seen: Seen, cause: Change, trials_a_run: int) -> int:
    trials = {trial: list(runs) for trial, runs in seen.trials.items()}
    sandwiches = dict(seen.sandwiches)
    events = _events_of_a_run(question, seen, trials_a_run)
    fails = LaunchCounts(trials_a_run - events, events, 0)
    clean = LaunchCounts(trials_a_run, 0, 0)
    count = 0
    while count < MOST_FORECAST:
        following = next_of(question, Seen(trials, sandwiches, seen.barred))
        if isinstance(following, RunTrial):
            trial = following.trial
            flips = cause <= trial.change and _is_heavy(trial.load, trial.change, question)
            trials.setdefault(trial, []).append(fails if flips else clean)
            count += 1
        elif isinstance(following, RunSandwich):
            fresh = sandwiches.get(following.sandwich, SandwichRuns())
            lacking = following.rounds - min(len(fresh.clean), len(fresh.reduced))
            sandwiches[following.sandwich] = SandwichRuns(
                [*fresh.clean, *[clean] * lacking], [*fresh.reduced, *[fails] * lacking]
            )
            count += 2 * lacking
        else:
            break
    return count


def _is_heavy(load: Load, change: Change, question: Question) -> bool:
    limits: Mapping[str, tuple[int, int]] = question.limits(change)
    return all(
        amount >= _LOAD_THAT_FLIPS * limits[name][0]
        for name, amount in load.amounts()
        if name in limits
    )


def _events_of_a_run(question: Question, seen: Seen, trials_a_run: int) -> int:
    """As the failing arm has shown so far."""
    failing = seen.runs_of(Trial(frozenset(question.factors)))
    evidence = sum(run.evidence for run in failing)
    rate = sum(run.corrupt for run in failing) / evidence if evidence else _ASSUMED_RATE
    return max(1, min(trials_a_run, round(rate * trials_a_run)))
