"""A stored campaign as a JSON object for scripts and as a table for people."""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, CampaignFacts, arms
from db.reads.runs import RunCounts, runs
from db.store import Store
from db.vocabulary import RunFlag, RunState
from runner.cli.console import ExitStatus, say
from runner.cli.exit_statuses import status_of
from runner.evidence.counts import SessionCounts, pooled
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.verdict_validity import too_many_are_ours
from runner.evidence.wording import corrupt_text, count_text, evidence_text
from runner.execute.attribution import attribution_lines
from runner.execute.campaign_evidence import gather_evidence
from runner.execute.run_counts import counts_of, run_json
from runner.execute.silence import silence_lines
from runner.execute.uncounted import uncounted_lines
from runner.execute.verdicts import JudgedHypothesis

MAX_SILENT_SHARE = 0.05
"""Of a run's sessions: with more, that none was corrupt says too little to end with 0."""

NOTHING_CLAIMED = "No hypothesis was written down, so nothing is claimed."


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
                "registered": not each.verdict.is_exploratory,
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
    """A row an arm: its runs that count, what was corrupt in them, and the three denominators.

    `not exercised`: a path that the arm's levels switch was not used, so that it says nothing.
    """
    with store.session() as session:
        known = arms(session.connection(), [campaign.id])
        stored = runs(session.connection(), [campaign.id])
    table = Table(title=f"{format_id(IdKind.CAMPAIGN, campaign.id)} {campaign.name}")
    for heading in ("arm", "runs", "corrupt", "evidence", "wedged requests"):
        table.add_column(heading, justify="left" if heading == "arm" else "right")
    for arm in known:
        table.add_row(*_row(arm, [run for run in stored if run.arm_id == arm.id], campaign))
    return table


def say_silence(store: Store, campaign_id: int) -> None:
    """Why sessions fell silent, and how they erred without being counted, where any did."""
    for line in (*silence_lines(store, campaign_id), *uncounted_lines(store, campaign_id)):
        say(line)


def say_verdicts(store: Store, campaign_id: int, judged: Sequence[JudgedHypothesis]) -> None:
    """Every verdict with its three answers and what to do next, and what corruption needs."""
    if not judged:
        say(NOTHING_CLAIMED)
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
    """Fine where every registered prediction held; without any, where nothing bad was seen."""
    if not judged:
        return _status_of_runs(store, campaign)
    return status_of([each.verdict for each in judged])


def _status_of_runs(store: Store, campaign: CampaignFacts) -> ExitStatus:
    """Nothing was predicted: corruption or a wedge is a failure, and silence is no success."""
    with store.session() as session:
        stored = runs(session.connection(), [campaign.id])
    done = [run for run in stored if run.run_state is RunState.DONE]
    counts = [counts_of(run, campaign.corrupt_outcomes) for run in done]
    if any(each.corrupt for each in counts) or any(run.wedges for run in done):
        return ExitStatus.SOME_FAILED
    if not done or any(_is_too_silent(each) for each in counts):
        return ExitStatus.COULD_NOT_SAY
    if any(too_many_are_ours(run.n_harness_error, run.n_ended) for run in done):
        return ExitStatus.COULD_NOT_SAY
    missing = {run.run_key for run in stored} - {run.run_key for run in done}
    return ExitStatus.COULD_NOT_SAY if missing else ExitStatus.FINE


def _is_too_silent(counts: SessionCounts) -> bool:
    silent = counts.silent_of_all
    return silent is None or silent.value > MAX_SILENT_SHARE


def _row(arm: ArmFacts, own: Sequence[RunCounts], campaign: CampaignFacts) -> tuple[str, ...]:
    done = [run for run in own if run.state == RunState.DONE]
    others = [run for run in own if run.run_state.is_terminal and run.state != RunState.DONE]
    counts = pooled(
        (counts_of(run, campaign.corrupt_outcomes) for run in done),
        corrupt=campaign.corrupt_outcomes,
    )
    left_out = f" (+{len(others)} left out)" if others else ""
    wedged = [run.told_wedge_requests for run in done]
    name = f"{arm.name} [{arm.tag}]" if arm.tag else arm.name
    if any(RunFlag.NOT_EXERCISED in run.flags for run in done):
        name = f"{name} (not exercised)"
    return (
        escape(name),
        f"{len(done)}{left_out}",
        corrupt_text(counts),
        evidence_text(counts),
        "not told" if None in wedged else count_text(sum(number or 0 for number in wedged)),
    )
