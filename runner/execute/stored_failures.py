"""The failures of a stored campaign, grouped, with what was logged near them."""

from dataclasses import dataclass

from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts, arms
from db.reads.failures import failing_turns, log_moments, wedge_moments
from db.reads.runs import runs
from db.reads.transcripts import MOST_TURNS, turn_moments
from db.store import Store
from db.vocabulary import Outcome, RunState
from runner.errors import UsageError
from runner.evidence.linked_faults import Linkage
from runner.failures.clusters import FailureCluster, cluster_failures
from runner.failures.disturbances import linkage_of
from runner.failures.enrichment import EnrichedEvent, enriched_events


@dataclass(frozen=True, slots=True)
class Failures:
    """`sessions`: all that ended, failed or not. `is_cut`: more turns are stored than were looked
    at.
    """

    campaign: CampaignFacts
    sessions: int
    clusters: tuple[FailureCluster, ...]
    near_corrupt: tuple[EnrichedEvent, ...]
    near_silent: tuple[EnrichedEvent, ...]
    linkage: Linkage
    is_cut: bool


def read_failures(store: Store, facts: CampaignFacts, *, arm: str | None = None) -> Failures:
    """Of the runs that are done. Raises UsageError for an arm that is not there."""
    corrupt = [str(outcome) for outcome in facts.corrupt_outcomes]
    with store.session() as session:
        connection = session.connection()
        names = {each.id: each.name for each in arms(connection, [facts.id])}
        wanted = _wanted(names, arm)
        own = [run for run in runs(connection, [facts.id]) if run.arm_id in wanted]
        done = [run for run in own if run.run_state is RunState.DONE]
        ids = [run.id for run in done]
        failing = failing_turns(connection, ids, outcomes=[*corrupt, str(Outcome.ERROR)])
        events, wedges = log_moments(connection, ids), wedge_moments(connection, ids)
        turns = turn_moments(connection, ids)
    return Failures(
        campaign=facts,
        sessions=sum(run.n_ended for run in done),
        clusters=cluster_failures(
            failing, arm_of_run={run.id: names[run.arm_id] for run in done}, events=events
        ),
        near_corrupt=enriched_events(turns, events, failing=corrupt),
        near_silent=enriched_events(turns, events, failing=[str(Outcome.ERROR)]),
        linkage=linkage_of(turns, events, wedges, corrupt=corrupt),
        is_cut=len(turns) == MOST_TURNS,
    )


def _wanted(names: dict[int, str], arm: str | None) -> set[int]:
    if arm is None:
        return set(names)
    found = {i for i, name in names.items() if arm in (name, format_id(IdKind.ARM, i))}
    if not found and not names:
        raise UsageError(f"the campaign has no arm {arm!r}, and no other: none was planned yet")
    if not found:
        listed = "; ".join(f"{format_id(IdKind.ARM, i)} {name}" for i, name in names.items())
        raise UsageError(f"the campaign has no arm {arm!r}; it has: {listed}")
    return found
