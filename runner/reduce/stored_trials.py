"""What a store already holds of a reduction: it is resumed from there. Reads, and plays nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from db.campaigns import RegisteredCampaign, find_campaign
from db.reads.campaigns import campaigns
from db.reads.runs import RunCounts, runs
from db.store import Store
from db.vocabulary import RunState
from runner.campaign.campaign import CONCURRENCY
from runner.campaign.definition import definition_key
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack
from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.event_counts import event_counts
from runner.reduce.reduction import SandwichRuns
from runner.reduce.trial import Load, Sandwich, Trial
from runner.reduce.trial_campaign import (
    Ends,
    sandwich_campaign,
    sandwich_prefix,
    trial_campaign,
    trial_prefix,
)

_SEARCHED_CAMPAIGNS = 10_000
_SECOND_US = 1_000_000


class StoredRun(NamedTuple):
    """`took_s`: with the start of the servers."""

    counts: LaunchCounts
    sessions: int
    took_s: float


class StoredTrials(NamedTuple):
    """Campaign ids are those in which the runs are to be looked at."""

    trials: Mapping[Trial, Sequence[StoredRun]]
    sandwiches: Mapping[Sandwich, tuple[Sequence[StoredRun], Sequence[StoredRun]]]
    campaign_ids: Mapping[Trial | Sandwich, int]

    def all_runs(self) -> Iterator[StoredRun]:
        for each in self.trials.values():
            yield from each
        for clean, reduced in self.sandwiches.values():
            yield from (*clean, *reduced)


def sandwich_runs(stored: tuple[Sequence[StoredRun], Sequence[StoredRun]]) -> SandwichRuns:
    clean, reduced = stored
    return SandwichRuns([run.counts for run in clean], [run.counts for run in reduced])


def stored_trials(store: Store, ends: Ends, stack: Stack) -> StoredTrials:
    """Those whose campaigns would be the same today, file of the stack included."""
    trials: dict[Trial, list[StoredRun]] = {}
    sandwiches: dict[Sandwich, tuple[list[StoredRun], list[StoredRun]]] = {}
    ids: dict[Trial | Sandwich, int] = {}
    with store.session() as session:
        known = campaigns(session.connection(), limit=_SEARCHED_CAMPAIGNS)
    for each in reversed(known):
        if not each.name.startswith((trial_prefix(ends), sandwich_prefix(ends))):
            continue
        registered = find_campaign(store, each.id)
        played = [*_played_arms(registered, ends)]
        if None in played:
            continue
        by_arm = _done_runs(store, each.id, ends)
        runs_of = [by_arm.get(arm.id or 0, []) for arm in registered.arms]
        own_trials = [trial for trial in played if trial is not None]
        if len(own_trials) == 1 and _is_trial(registered, own_trials[0], ends, stack):
            trials[own_trials[0]] = runs_of[0]
            ids[own_trials[0]] = each.id
            continue
        sandwich = _sandwich(registered, own_trials, ends, stack)
        if sandwich is not None:
            at = [arm.is_baseline for arm in registered.arms].index(True)
            sandwiches[sandwich] = (runs_of[1 - at], runs_of[at])
            ids[sandwich] = each.id
    return StoredTrials(trials, sandwiches, ids)


def _played_arms(registered: RegisteredCampaign, ends: Ends) -> Iterator[Trial | None]:
    workload = registered.campaign.definition.get("workload") or {}
    for arm in registered.arms:
        yield _trial_of(arm.levels, workload, ends)


def _trial_of(levels: Mapping[str, Any], workload: Mapping[str, Any], ends: Ends) -> Trial | None:
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
    return Trial(
        frozenset(change),
        Load(
            concurrency=int(texts[CONCURRENCY]) if strange else None,
            rounds=_if_other(workload.get("rounds"), given.rounds),
            context_tokens=_if_other(workload.get("context_tokens"), given.context_tokens),
        ),
    )


def _if_other(amount: int | None, given: int) -> int | None:
    return None if amount == given else amount


def _is_trial(registered: RegisteredCampaign, trial: Trial, ends: Ends, stack: Stack) -> bool:
    expected = definition_key(trial_campaign(ends, trial, runs=1), stack)
    return registered.campaign.definition_key == expected


def _sandwich(
    registered: RegisteredCampaign, arms: Sequence[Trial], ends: Ends, stack: Stack
) -> Sandwich | None:
    reduced = [trial for trial, arm in zip(arms, registered.arms, strict=True) if arm.is_baseline]
    if len(arms) != 2 or len(reduced) != 1 or not reduced[0].change:
        return None
    sandwich = Sandwich(reduced[0].change, reduced[0].load)
    expected = definition_key(sandwich_campaign(ends, sandwich, rounds=1, p_max=0.5), stack)
    return sandwich if registered.campaign.definition_key == expected else None


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
