"""A stored campaign as a JSON object for scripts and as a table for people."""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, CampaignFacts, arms
from db.reads.runs import RunCounts, runs
from db.store import Store
from db.vocabulary import Headline, RunState
from runner.cli.console import ExitStatus, say
from runner.evidence.counts import pooled
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.wording import corrupt_text, count_text, evidence_text
from runner.execute.attribution import attribution_lines
from runner.execute.campaign_evidence import gather_evidence
from runner.execute.run_counts import counts_of, run_json
from runner.execute.verdicts import JudgedHypothesis


def campaign_json(
    store: Store, campaign: CampaignFacts, judged: Sequence[JudgedHypothesis]
) -> dict[str, Any]:
    with store.session() as session:
        by_id = {arm.id: arm for arm in arms(session.connection(), [campaign.id])}
        stored = runs(session.connection(), [campaign.id])
    return {
        "campaign": campaign.name,
        "campaign_id": format_id(IdKind.CAMPAIGN, campaign.id),
        "runs": [run_json(run, by_id[run.arm_id], campaign.corrupt_outcomes) for run in stored],
        "verdicts": [
            {
                "id": each.slug,
                "headline": str(each.verdict.headline),
                "sentence": each.verdict.sentence,
                "elimination": str(each.verdict.elimination),
                "direction": str(each.verdict.direction),
                "availability": str(each.verdict.availability),
                "reasons": sorted(each.verdict.reason_codes),
            }
            for each in judged
        ],
    }


def arms_table(store: Store, campaign: CampaignFacts) -> Table:
    """A row an arm: its runs that count, what was corrupt in them, and the three denominators."""
    with store.session() as session:
        known = arms(session.connection(), [campaign.id])
        stored = runs(session.connection(), [campaign.id])
    table = Table(title=f"{format_id(IdKind.CAMPAIGN, campaign.id)} {campaign.name}")
    for heading in ("arm", "runs", "corrupt", "evidence", "wedged requests"):
        table.add_column(heading, justify="left" if heading == "arm" else "right")
    for arm in known:
        table.add_row(*_row(arm, [run for run in stored if run.arm_id == arm.id], campaign))
    return table


def say_verdicts(store: Store, campaign_id: int, judged: Sequence[JudgedHypothesis]) -> None:
    """Every verdict with its three answers and what to do next, and what corruption needs."""
    for each in judged:
        first, *others = verdict_lines(each.verdict)
        say(f"{each.slug}: {first}")
        for line in others:
            say(f"  {line}")
    for line in attribution_lines(gather_evidence(store, campaign_id)):
        say(line)


def exit_status(
    store: Store, campaign: CampaignFacts, judged: Sequence[JudgedHypothesis]
) -> ExitStatus:
    """Fine where every prediction held, or none was made and there is evidence at all."""
    if not judged:
        return ExitStatus.FINE if _has_evidence(store, campaign) else ExitStatus.COULD_NOT_SAY
    headlines = {each.verdict.headline for each in judged}
    if headlines & {Headline.REFUTED, Headline.WORSE, Headline.IMPROVED_NOT_ELIMINATED}:
        return ExitStatus.SOME_FAILED
    return ExitStatus.COULD_NOT_SAY if Headline.INCONCLUSIVE in headlines else ExitStatus.FINE


def _has_evidence(store: Store, campaign: CampaignFacts) -> bool:
    with store.session() as session:
        stored = runs(session.connection(), [campaign.id])
    return any(
        run.run_state is RunState.DONE
        and counts_of(run, campaign.corrupt_outcomes).gave_evidence > 0
        for run in stored
    )


def _row(arm: ArmFacts, own: Sequence[RunCounts], campaign: CampaignFacts) -> tuple[str, ...]:
    done = [run for run in own if run.state == RunState.DONE]
    others = [run for run in own if run.run_state.is_terminal and run.state != RunState.DONE]
    counts = pooled(
        (counts_of(run, campaign.corrupt_outcomes) for run in done),
        corrupt=campaign.corrupt_outcomes,
    )
    left_out = f" (+{len(others)} left out)" if others else ""
    wedged = sum(run.wedge_requests for run in done)
    name = f"{arm.name} [{arm.tag}]" if arm.tag else arm.name
    return (
        escape(name),
        f"{len(done)}{left_out}",
        corrupt_text(counts),
        evidence_text(counts),
        count_text(wedged),
    )
