"""The whole reduction as one pure function: from what the runs so far showed to the next trial.

First the factors, then the load, at last the sandwich: fresh runs of the clean and of the reduced
arm in turns, which nothing before has been chosen by.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.cause_beliefs import Change
from runner.reduce.factor_search import NothingToReduce, Smallest, Try, next_step
from runner.reduce.load_search import lowered
from runner.reduce.standing import Standing, StandingRule, clean_e_value, standing_of
from runner.reduce.trial import AS_GIVEN, Load, Sandwich, Trial

NOTHING_CHANGED: Change = frozenset()
FEWEST_ROUNDS_OF_SANDWICH = 2
_CLEAN_BUT_SILENT = (0.12, 0.35)
"""Rates (clean, reduced) where silence counts as what is looked for."""

Runs: TypeAlias = Sequence[LaunchCounts]


@dataclass(frozen=True, slots=True)
class SandwichRuns:
    clean: Runs = ()
    reduced: Runs = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`limits` of a change: amount of its load to (what it is as given, the least to be tried).

    `clean_below`: an arm counts as clean below this share of the failing arm's rate, or below the
    `p_max` of the rule where that is higher.
    """

    factors: Sequence[str]
    rule: StandingRule
    limits: Callable[[Change], Mapping[str, tuple[int, int]]]
    clean_below: float = 0.25


@dataclass(frozen=True, slots=True)
class Seen:
    """What was run so far; `barred` trials cannot be run."""

    trials: Mapping[Trial, Runs]
    sandwiches: Mapping[Sandwich, SandwichRuns] = field(default_factory=dict)
    barred: Collection[Trial] = ()

    def runs_of(self, trial: Trial) -> Runs:
        return self.trials.get(trial, ())

    def changes(self) -> Iterator[Change]:
        """Those that were tried or are barred, under the load as given."""
        tried = (trial for trial in (*self.trials, *self.barred) if trial.load == AS_GIVEN)
        return (trial.change for trial in tried)


@dataclass(frozen=True, slots=True)
class RunTrial:
    trial: Trial
    why: str


@dataclass(frozen=True, slots=True)
class RunSandwich:
    """Until each of both arms has so many runs."""

    sandwich: Sandwich
    rounds: int


@dataclass(frozen=True, slots=True)
class Reduced:
    """`holds`: the sandwich, None where it could not decide."""

    smallest: Smallest
    load: Load
    fresh: SandwichRuns
    holds: bool | None


Next: TypeAlias = RunTrial | RunSandwich | Reduced | NothingToReduce


def next_of(question: Question, seen: Seen) -> Next:
    """What to run next, or how it ended."""
    seen = _with_failed_sandwiches(question, seen)
    known = known_standings(question, seen)
    step = next_step(
        question.factors, known, lambda kept, name: _is_shown(kept, name, question, seen)
    )
    if isinstance(step, Try):
        return _played(Trial(step.change), question, seen, why=step.why)
    if isinstance(step, NothingToReduce):
        return step
    load = _smaller_load(step.change, question, seen)
    if isinstance(load, RunTrial):
        return load
    return _sandwiched(step, load, question, seen)


def rule_of_trials(question: Question, seen: Seen) -> StandingRule:
    """The factors share the risk that one is kept which is not needed."""
    failing = seen.runs_of(Trial(frozenset(question.factors)))
    evidence = sum(run.evidence for run in failing)
    rate = sum(run.corrupt for run in failing) / evidence if evidence else 0.0
    return replace(
        question.rule,
        decisions=max(1, len(question.factors)),
        p_max=max(question.rule.p_max, question.clean_below * rate),
    )


def known_standings(question: Question, seen: Seen) -> dict[Change, Standing]:
    """Of the changes that were tried or are barred, under the load as given."""
    return {change: _standing(Trial(change), question, seen) for change in seen.changes()}


def _standing(trial: Trial, question: Question, seen: Seen) -> Standing:
    runs = seen.runs_of(trial)
    if not runs and trial in seen.barred:
        return Standing.BARRED
    clean = seen.runs_of(Trial(NOTHING_CHANGED))
    now = standing_of(runs, clean, rule_of_trials(question, seen))
    return Standing.BARRED if not now.is_final and trial in seen.barred else now


def _is_shown(kept: Change, name: str, question: Question, seen: Seen) -> bool:
    """Whether the arms without this factor, but with all others of the change, are clean together.

    Where more changes never make less of a fault, an arm with more of them that is clean speaks for
    the arm without this factor; that arm itself has leaned to clean as well when this is asked.
    """
    rest = kept - {name}
    arms = [x for x in seen.trials if x.load == AS_GIVEN and x.change >= rest]
    runs = [run for arm in arms if name not in arm.change for run in seen.runs_of(arm)]
    rule = rule_of_trials(question, seen)
    return clean_e_value(runs, rule) >= rule.bar


def _played(trial: Trial, question: Question, seen: Seen, *, why: str) -> RunTrial:
    """The trial, or first the clean arm, where the trial has no run of it to be compared with."""
    clean = Trial(NOTHING_CHANGED)
    has_events = any(run.corrupt for run in seen.runs_of(trial))
    lacks = len(seen.runs_of(clean)) < len(seen.runs_of(trial))
    if trial != clean and has_events and lacks and clean not in seen.barred:
        return RunTrial(clean, "there is a clean run for each that is compared with it")
    return RunTrial(trial, why)


def _smaller_load(change: Change, question: Question, seen: Seen) -> Load | RunTrial:
    load = AS_GIVEN
    for name, (start, least) in question.limits(change).items():

        def standing(amount: int, name: str = name, load: Load = load) -> Standing:
            return _standing(Trial(change, load.with_amount(name, amount)), question, seen)

        found = lowered(start, least, standing)
        if not found.is_known:
            trial = Trial(change, load.with_amount(name, found.amount))
            return _played(trial, question, seen, why=f"{name} {found.amount} is enough")
        if found.amount != start:
            load = load.with_amount(name, found.amount)
    return load


def _with_failed_sandwiches(question: Question, seen: Seen) -> Seen:
    """Their runs are evidence against what led to them, so that the search goes on from there."""
    trials = {trial: list(runs) for trial, runs in seen.trials.items()}
    for sandwich, fresh in seen.sandwiches.items():
        if _holds(fresh, question, seen) is False:
            trials.setdefault(Trial(sandwich.change, sandwich.load), []).extend(fresh.reduced)
            if sandwich.load == AS_GIVEN:
                trials.setdefault(Trial(NOTHING_CHANGED), []).extend(fresh.clean)
    return replace(seen, trials=trials)


def _holds(fresh: SandwichRuns, question: Question, seen: Seen) -> bool | None:
    """None: it is not decided yet."""
    rule = rule_of_trials(question, seen)
    alternatives = (*rule.alternatives, _CLEAN_BUT_SILENT)
    rule = replace(rule, decisions=1, silent_at_worst=True, alternatives=alternatives)
    reduced = standing_of(fresh.reduced, fresh.clean, rule)
    clean = standing_of(fresh.clean, fresh.clean, rule)
    if reduced is Standing.FLIPS and clean is Standing.CLEAN:
        return True
    return False if reduced is Standing.CLEAN else None


def _sandwiched(smallest: Smallest, load: Load, question: Question, seen: Seen) -> Next:
    sandwich = Sandwich(smallest.change, load)
    fresh = seen.sandwiches.get(sandwich, SandwichRuns())
    rounds = min(len(fresh.clean), len(fresh.reduced))
    if rounds < FEWEST_ROUNDS_OF_SANDWICH:
        return RunSandwich(sandwich, FEWEST_ROUNDS_OF_SANDWICH)
    holds = _holds(fresh, question, seen)
    if holds is not None or rounds >= question.rule.most_runs:
        return Reduced(smallest, load, fresh, holds)
    return RunSandwich(sandwich, rounds + 1)
