"""`decisive clusters`: failures that look alike, what is logged near them, and whether two faults
come together.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts, arms
from db.reads.failures import failing_turns, log_moments, wedge_moments
from db.reads.runs import runs
from db.reads.transcripts import MOST_TURNS, turn_moments
from db.store import Store, open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from db.vocabulary import Outcome, RunState
from runner.cli.console import say, say_json
from runner.cli.opening import find_stored_campaign
from runner.cli.options import CampaignReference, JsonOption, StoreOption
from runner.errors import UsageError
from runner.evidence.linkage_words import linkage_lines
from runner.evidence.linked_faults import Linkage
from runner.failures.clusters import FailureCluster, cluster_failures
from runner.failures.disturbances import linkage_of
from runner.failures.enrichment import EnrichedEvent, enriched_events
from runner.failures.failure_words import cluster_lines, enrichment_lines


@dataclass(frozen=True, slots=True)
class Failures:
    """`is_cut`: more turns are stored than were looked at."""

    campaign: CampaignFacts
    clusters: tuple[FailureCluster, ...]
    near_corrupt: tuple[EnrichedEvent, ...]
    near_silent: tuple[EnrichedEvent, ...]
    linkage: Linkage
    is_cut: bool


def clusters(
    campaign: CampaignReference = None,
    arm: Annotated[
        str | None, typer.Option(help="Only the runs of this arm: its name or its id, a-4.")
    ] = None,
    store_url: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Group the failures of a campaign by what they look like, with what was logged near them.

    Says too whether corruption and wedges or aborts come together in time.
    """
    with open_store_read_only(store_url) as store:
        failures = read_failures(store, find_stored_campaign(store, campaign), arm=arm)
    if as_json:
        say_json(_json_of(failures))
        return
    for line in _lines_of(failures):
        say(line)


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
        clusters=cluster_failures(
            failing, arm_of_run={run.id: names[run.arm_id] for run in done}, events=events
        ),
        near_corrupt=enriched_events(turns, events, failing=corrupt),
        near_silent=enriched_events(turns, events, failing=[str(Outcome.ERROR)]),
        linkage=linkage_of(turns, events, wedges, corrupt=corrupt),
        is_cut=len(turns) == MOST_TURNS,
    )


def _wanted(names: dict[int, str], arm: str | None) -> set[int]:
    found = {i for i, name in names.items() if arm in (None, name, format_id(IdKind.ARM, i))}
    if not found:
        listed = "; ".join(f"{format_id(IdKind.ARM, i)} {name}" for i, name in names.items())
        raise UsageError(f"the campaign has no arm {arm!r}; it has: {listed}")
    return found


def _lines_of(failures: Failures) -> list[str]:
    facts = failures.campaign
    lines = [f"{facts.name} ({format_id(IdKind.CAMPAIGN, facts.id)}), runs that are done"]
    lines += cluster_lines(failures.clusters)
    for what, events in (
        ("Corrupt sessions", failures.near_corrupt),
        ("Silent sessions", failures.near_silent),
    ):
        if events:
            lines += [f"{what}:", *enrichment_lines(events)]
    linked = linkage_lines(failures.linkage)
    if linked:
        lines += ["Are wedges and corruption linked?", *linked]
    if failures.is_cut:
        lines.append(f"Only the first {MOST_TURNS:,} turns were looked at.")
    return lines


def _json_of(failures: Failures) -> dict[str, Any]:
    return {
        "campaign": format_id(IdKind.CAMPAIGN, failures.campaign.id),
        "clusters": [_cluster_json(each) for each in failures.clusters],
        "near_corrupt": [_event_json(each) for each in failures.near_corrupt],
        "near_silent": [_event_json(each) for each in failures.near_silent],
        "linked": {
            **asdict(failures.linkage),
            "said": linkage_lines(failures.linkage),
        },
        "is_cut": failures.is_cut,
    }


def _cluster_json(cluster: FailureCluster) -> dict[str, Any]:
    told = asdict(cluster)
    examples = [format_id(IdKind.SESSION, each) for each in cluster.examples]
    by_turn = {str(turn): n for turn, n in cluster.by_turn.items()}
    return {**told, "signature": cluster.signature.text, "examples": examples, "by_turn": by_turn}


def _event_json(event: EnrichedEvent) -> dict[str, Any]:
    """JSON knows no infinity: where no other turn has the event its odds ratio is null."""
    told = asdict(event)
    ratio = event.association.odds_ratio
    told["association"]["odds_ratio"] = ratio if ratio not in (None, float("inf")) else None
    return told
