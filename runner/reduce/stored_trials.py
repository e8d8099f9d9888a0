"""What a store already holds of a reduction: it is resumed from there. Reads, and plays nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from db.campaigns import RegisteredCampaign, find_campaign
from db.reads.campaigns import campaigns
from db.reads.runs import RunCounts, runs
from db.store import Store
from db.vocabulary import RunState
from runner.campaign.campaign import CONCURRENCY, Campaign
from runner.campaign.definition import definition_key
from runner.campaign.file_shape import level_text
from runner.campaign.reduction_names import sandwich_prefix, trial_prefix
from runner.campaign.stack_file import Stack
from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.event_counts import event_counts
from runner.reduce.reduction import SandwichRuns
from runner.reduce.trial import Load, Sandwich, Trial
from runner.reduce.trial_campaign import (
    Ends,
    sandwich_campaign,
    trial_campaign,
)

_SEARCHED_CAMPAIGNS = 10_000
_SECOND_US = 1_000_000
_ANY_RATE = 0.5  # the claim of a campaign is no part of its definition


class StoredRun(NamedTuple):
    """`took_s`: with the start of the servers."""

    counts: LaunchCounts
    sessions: int
    took_s: float


class StoredTrials(NamedTuple):
    """Campaign ids are those in which the runs are to be looked at."""

    trials: dict[Trial, list[StoredRun]]
    sandwiches: dict[Sandwich, tuple[list[StoredRun], list[StoredRun]]]
    campaign_ids: dict[Trial | Sandwich, int]

    def all_runs(self) -> Iterator[StoredRun]:
        for each in self.trials.values():
            yield from each
        for clean, reduced in self.sandwiches.values():
            yield from (*clean, *reduced)


def sandwich_runs(stored: tuple[Sequence[StoredRun], Sequence[StoredRun]]) -> SandwichRuns:
    clean, reduced = stored
    return SandwichRuns([run.counts for run in clean], [run.counts for run in reduced])


class TrialReader:
    """Knows again the trials of one reduction: those whose campaigns would be the same today, the
    file of the stack included.
    """

    def __init__(self, store: Store, ends: Ends, stack: Stack) -> None:
        self._store = store
        self._ends = ends
        self._stack = stack
        self._known: dict[int, _Recognised | None] = {}  # by campaign: definitions do not change

    def read(self) -> StoredTrials:
        found = StoredTrials({}, {}, {})
        name = self._ends.campaign.name
        prefixes = (trial_prefix(name), sandwich_prefix(name))
        with self._store.session() as session:
            known = campaigns(session.connection(), limit=_SEARCHED_CAMPAIGNS)
        for each in reversed(known):
            if not each.name.startswith(prefixes):
                continue
            if each.id not in self._known:
                self._known[each.id] = self._recognised(find_campaign(self._store, each.id))
            recognised = self._known[each.id]
            if recognised is not None:
                self._add(recognised, each.id, found)
        return found

    def _add(self, recognised: "_Recognised", campaign_id: int, found: StoredTrials) -> None:
        by_arm = _done_runs(self._store, campaign_id, self._ends)
        played = [by_arm.get(arm_id, []) for arm_id in recognised.arm_ids]
        if isinstance(recognised.what, Trial):
            found.trials[recognised.what] = played[0]
        else:
            found.sandwiches[recognised.what] = (played[0], played[1])
        found.campaign_ids[recognised.what] = campaign_id

    def _recognised(self, registered: RegisteredCampaign) -> "_Recognised | None":
        arms = [
            (arm.id or 0, arm.is_baseline, _trial_of(arm.levels, registered, self._ends))
            for arm in registered.arms
        ]
        trials = [trial for _, _, trial in arms if trial is not None]
        if len(trials) < len(arms):
            return None
        if len(arms) == 1:
            expected = trial_campaign(self._ends, trials[0], runs=1)
            return self._if_same(expected, registered, _Recognised(trials[0], (arms[0][0],)))
        arms.sort(key=lambda arm: arm[1])  # the clean one first: the reduced one is the baseline
        reduced = arms[-1][2]
        if len(arms) != 2 or not arms[-1][1] or reduced is None or not reduced.change:
            return None
        sandwich = Sandwich(reduced.change, reduced.load)
        expected = sandwich_campaign(self._ends, sandwich, rounds=1, p_max=_ANY_RATE)
        ids = (arms[0][0], arms[1][0])
        return self._if_same(expected, registered, _Recognised(sandwich, ids))

    def _if_same(
        self, expected: Campaign, registered: RegisteredCampaign, recognised: "_Recognised"
    ) -> "_Recognised | None":
        is_same = definition_key(expected, self._stack) == registered.campaign.definition_key
        return recognised if is_same else None


class _Recognised(NamedTuple):
    """`arm_ids`: of the one arm, or of the clean and the reduced one."""

    what: Trial | Sandwich
    arm_ids: tuple[int, ...]


def _trial_of(
    levels: Mapping[str, Any], registered: RegisteredCampaign, ends: Ends
) -> Trial | None:
    """None where the arm is none between the two ends."""
    if levels.keys() != ends.campaign.factors.keys():
        return None
    texts = {name: level_text(level) for name, level in levels.items()}
    clean = {name: level_text(level) for name, level in ends.clean.items()}
    failing = {name: level_text(level) for name, level in ends.failing.items()}
    change = {name for name in ends.factors if texts[name] != clean[name]}
    strange = {name for name in texts if texts[name] not in (clean[name], failing[name])}
    if strange - {CONCURRENCY}:
        return None
    given = ends.campaign.workload
    workload = registered.campaign.definition.get("workload") or {}
    return Trial(
        frozenset(change),
        Load(
            concurrency=int(texts[CONCURRENCY]) if strange else None,
            rounds=_if_other(workload.get("rounds"), given.rounds),
            tools=_if_other(workload.get("tools"), given.tools),
            context_tokens=_if_other(workload.get("context_tokens"), given.context_tokens),
        ),
    )


def _if_other(amount: int | None, given: int | None) -> int | None:
    return None if amount == given else amount


def _done_runs(store: Store, campaign_id: int, ends: Ends) -> dict[int, list[StoredRun]]:
    """By the arm's row, in the order in which they were played."""
    with store.session() as session:
        stored = runs(session.connection(), [campaign_id])
    found: dict[int, list[StoredRun]] = {}
    for run in stored:
        if run.run_state is RunState.DONE:
            found.setdefault(run.arm_id, []).append(_stored_run(run, ends))
    return found


def _stored_run(run: RunCounts, ends: Ends) -> StoredRun:
    counts = event_counts(ends.flips, run.counts, wedges=run.wedges, corrupt=ends.campaign.corrupt)
    took_us = (run.ended_at_us or 0) - (run.started_at_us or 0)
    return StoredRun(counts, run.n_ended, max(0.0, took_us / _SECOND_US))
