"""`decisive clusters`: failures that look alike, what is logged near them, and whether two faults
come together.
"""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from db.identifiers import IdKind, format_id
from db.reads.transcripts import MOST_TURNS
from db.store import open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import say, say_json
from runner.cli.opening import find_stored_campaign
from runner.cli.options import CampaignReference, JsonOption, StoreOption
from runner.evidence.linkage_words import linkage_lines
from runner.execute.stored_failures import Failures, read_failures
from runner.failures.clusters import FailureCluster
from runner.failures.enrichment import EnrichedEvent
from runner.failures.failure_words import cluster_lines, enrichment_lines


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


def _lines_of(failures: Failures) -> list[str]:
    facts = failures.campaign
    lines = [f"{facts.name} ({format_id(IdKind.CAMPAIGN, facts.id)}), runs that are done"]
    lines += cluster_lines(failures.clusters, sessions=failures.sessions)
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
        "sessions": failures.sessions,
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
