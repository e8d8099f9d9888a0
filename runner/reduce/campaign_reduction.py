"""Plays a reduction to its end: asks what is next, runs it as a campaign, reads the store again.

Nothing is kept here that the store does not have, so that an interrupted reduction goes on where it
was; only what could not be run is remembered, and is tried again by the next start.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from db.reads.runs import runs
from db.store import Store
from db.vocabulary import RunState
from runner.campaign.campaign import CONCURRENCY, Campaign, ScenarioName
from runner.campaign.stack_file import Stack
from runner.execute.attended_run import AttendedEnd
from runner.reduce.cause_beliefs import Change
from runner.reduce.event_counts import Flips
from runner.reduce.factor_search import NothingToReduce
from runner.reduce.forecast import Forecast, forecast
from runner.reduce.reduction import (
    Question,
    Reduced,
    RunSandwich,
    RunTrial,
    Seen,
    known_standings,
    next_of,
    rule_of_trials,
)
from runner.reduce.standing import Standing, StandingRule
from runner.reduce.stored_trials import StoredTrials, TrialReader, sandwich_runs
from runner.reduce.trial import Sandwich, Trial
from runner.reduce.trial_campaign import Ends, sandwich_campaign, trial_campaign
from runner.sessions.tool_dialogue import TOOLS_OF_A_DIALOGUE

Play: TypeAlias = Callable[[Campaign], AttendedEnd]
"""Runs what is missing of a campaign, for as long as there is time."""

MOST_FAILURES = 2
"""Runs of one arm that come to nothing, before it counts as one that cannot be run."""

_SIZED_SCENARIOS = frozenset(
    {ScenarioName.TOOL_DIALOGUE, ScenarioName.PROBE, ScenarioName.LONG_CONTEXT}
)


class Spent(NamedTuple):
    runs: int
    sessions: int
    seconds: float

    @property
    def each_s(self) -> float | None:
        return self.seconds / self.runs if self.runs else None


@dataclass(frozen=True, slots=True)
class Before:
    """What is told before something is run."""

    step: RunTrial | RunSandwich
    spent: Spent
    to_go: Forecast


@dataclass(frozen=True, slots=True)
class ReductionEnd:
    """`found` is None where the reduction was interrupted, and `cut_by` then says how."""

    found: Reduced | NothingToReduce | None
    stored: StoredTrials
    spent: Spent
    standings: Mapping[Change, Standing]
    p_max: float
    barred: Mapping[Trial, str]
    cut_by: AttendedEnd | None = None
    failed: str | None = None


@dataclass(slots=True)
class Reduction:
    """`lowers`: the load is made smaller too, once the factors are found."""

    ends: Ends
    stack: Stack
    store: Store
    rule: StandingRule
    lowers: bool = True
    with_excluded: bool = False
    barred: dict[Trial, str] = field(default_factory=dict)

    def run(self, play: Play, *, told: Callable[[Before], None]) -> ReductionEnd:
        """Until it is found, cannot be said, or is cut short."""
        if not self.with_excluded:
            self._bar_excluded()
        reader = TrialReader(self.store, self.ends, self.stack)
        failures: Counter[Trial | Sandwich] = Counter()
        while True:
            stored = reader.read()
            seen = self._seen(stored)
            following = next_of(self.question, seen)
            if isinstance(following, Reduced | NothingToReduce):
                return self._end(stored, found=following)
            to_go = forecast(self.question, seen, trials_a_run=self._trials_a_run)
            told(Before(following, _spent(stored), to_go))
            campaign = self._campaign(following, stored)
            attended = play(campaign)
            if attended.end is None or attended.end.was_stopped:
                return self._end(reader.read(), cut_by=attended)
            failure = self._failure(attended.end.campaign_id)
            if failure is None:
                continue
            what = following.trial if isinstance(following, RunTrial) else following.sandwich
            failures[what] += 1
            if failures[what] >= MOST_FAILURES and isinstance(what, Trial):
                self.barred[what] = failure
            elif failures[what] >= MOST_FAILURES:
                return self._end(stored, failed=failure)

    @property
    def question(self) -> Question:
        return Question(factors=self.ends.factors, rule=self.rule, limits=self._limits)

    @property
    def _trials_a_run(self) -> int:
        return 1 if self.ends.flips is Flips.WEDGE else self.ends.sessions

    def _limits(self, change: Change) -> dict[str, tuple[int, int]]:
        """Smaller loads are tried for the concurrency, and where the scenario has them for rounds
        and context.
        """
        if not self.lowers:
            return {}
        workload = self.ends.campaign.workload
        clean, failing = (
            int(levels[CONCURRENCY]) for levels in (self.ends.clean, self.ends.failing)
        )
        limits = {CONCURRENCY: (clean, 1)}
        if CONCURRENCY in change and failing > clean:
            limits = {CONCURRENCY: (failing, clean + 1)}
        elif CONCURRENCY in change:
            limits = {}
        if workload.scenario in _SIZED_SCENARIOS:
            limits["rounds"] = (workload.rounds, 1)
            limits["tools"] = (workload.tools or TOOLS_OF_A_DIALOGUE[1], 1)
            limits["context_tokens"] = (workload.context_tokens, 1)
        return {name: each for name, each in limits.items() if each[0] > each[1]}

    def _bar_excluded(self) -> None:
        factors = self.ends.factors
        for bits in range(1 << len(factors)):
            change = frozenset(name for at, name in enumerate(factors) if bits >> at & 1)
            if self.ends.is_excluded(Trial(change)):
                self.barred[Trial(change)] = "the campaign excludes it"

    def _seen(self, stored: StoredTrials) -> Seen:
        return Seen(
            {trial: [run.counts for run in runs] for trial, runs in stored.trials.items()},
            {sandwich: sandwich_runs(each) for sandwich, each in stored.sandwiches.items()},
            self.barred,
        )

    def _campaign(self, following: RunTrial | RunSandwich, stored: StoredTrials) -> Campaign:
        if isinstance(following, RunTrial):
            played = len(stored.trials.get(following.trial, ()))
            return trial_campaign(self.ends, following.trial, runs=played + 1)
        rule = rule_of_trials(self.question, self._seen(stored))
        return sandwich_campaign(
            self.ends, following.sandwich, rounds=following.rounds, p_max=rule.p_max
        )

    def _failure(self, campaign_id: int) -> str | None:
        """Why the last run of the campaign is not done; None: it is."""
        with self.store.session() as session:
            stored = runs(session.connection(), [campaign_id])
        last = {run.block: run for run in stored}
        missing = [run for run in last.values() if run.run_state is not RunState.DONE]
        return f"{missing[0].state}: {missing[0].reason}" if missing else None

    def _end(
        self,
        stored: StoredTrials,
        *,
        found: Reduced | NothingToReduce | None = None,
        cut_by: AttendedEnd | None = None,
        failed: str | None = None,
    ) -> ReductionEnd:
        seen = self._seen(stored)
        return ReductionEnd(
            found=found,
            stored=stored,
            spent=_spent(stored),
            standings=known_standings(self.question, seen),
            p_max=rule_of_trials(self.question, seen).p_max,
            barred=self.barred,
            cut_by=cut_by,
            failed=failed,
        )


def _spent(stored: StoredTrials) -> Spent:
    played = list(stored.all_runs())
    return Spent(len(played), sum(x.sessions for x in played), sum(x.took_s for x in played))
