"""The report on one campaign, from its stored facts; it counts nothing that was not given."""

from collections.abc import Sequence
from dataclasses import dataclass

from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, CampaignFacts
from db.reads.runs import RunCounts
from db.vocabulary import Headline, RunState
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.counts import counted, pooled
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.wording import (
    corrupt_text,
    count_text,
    duration_text,
    evidence_text,
    moment_text,
    silent_text,
)
from runner.report.document import (
    Paragraph,
    ReportDocument,
    Section,
    SectionTag,
    Table,
    Verbatim,
)

_NEEDS_ACTION = frozenset({Headline.REFUTED, Headline.WORSE, Headline.IMPROVED_NOT_ELIMINATED})


@dataclass(frozen=True, slots=True)
class ReportedVerdict:
    slug: str
    claim: str
    arm_name: str
    versus_name: str
    predict: str
    verdict: CampaignVerdict


@dataclass(frozen=True, slots=True)
class ReportedSession:
    """A corrupt session as an example; `text` is what the server sent in its decisive turn."""

    session_id: int
    run_id: int
    arm_name: str
    outcome: str
    detail: str
    text: str


@dataclass(frozen=True, slots=True)
class CampaignRecord:
    """All that the report is made of; the same record gives the same bytes."""

    campaign: CampaignFacts
    source_text: str
    arms: Sequence[ArmFacts]
    runs: Sequence[RunCounts]
    verdicts: Sequence[ReportedVerdict]
    examples: Sequence[ReportedSession]
    attribution: Sequence[str] = ()
    silence: Sequence[str] = ()


def campaign_report(record: CampaignRecord) -> ReportDocument:
    campaign = record.campaign
    return ReportDocument(
        title=f"{campaign.name} ({format_id(IdKind.CAMPAIGN, campaign.id)})",
        summary=campaign.question,
        sections=(
            _verdict_section(record),
            _arms_section(record),
            *_attribution_section(record),
            *_left_out_section(record),
            *_examples_section(record),
            _method_section(record),
            Section("Campaign file", (Verbatim(record.source_text),)),
        ),
    )


def _verdict_section(record: CampaignRecord) -> Section:
    if not record.verdicts:
        said = Paragraph("No hypothesis was written down, so nothing is claimed.")
        return Section("Verdicts", (said,))
    rows = tuple(
        (each.slug, _headline_text(each.verdict), each.claim, each.predict)
        for each in record.verdicts
    )
    details = [
        Paragraph(f"{each.slug}: {line}" if position == 0 else line)
        for each in record.verdicts
        for position, line in enumerate(verdict_lines(each.verdict))
    ]
    needs_action = any(each.verdict.headline in _NEEDS_ACTION for each in record.verdicts)
    table = Table(("hypothesis", "verdict", "claim", "predicted"), rows)
    tag = SectionTag.ACTION_NEEDED if needs_action else SectionTag.INFORMATION
    return Section("Verdicts", (table, *details), tag)


def _headline_text(verdict: CampaignVerdict) -> str:
    headline = str(verdict.headline).replace("_", " ")
    return f"{headline} (exploratory)" if verdict.is_exploratory else headline


def _arms_section(record: CampaignRecord) -> Section:
    table = Table(
        ("arm", "runs", "corrupt of all", "evidence", "silent", "wedged requests"),
        tuple(_arm_row(arm, record) for arm in record.arms),
        numeric=frozenset({1, 2, 5}),
    )
    note = Paragraph(
        "Intervals are Wilson 95 %, with silent sessions counted as clean at the lower and as "
        "corrupt at the upper end. Sessions of one run are not independent, so these intervals "
        "are for reading, not for deciding."
    )
    return Section("Arms", (table, note, *map(Paragraph, record.silence)))


def _arm_row(arm: ArmFacts, record: CampaignRecord) -> tuple[str, ...]:
    corrupt = record.campaign.corrupt_outcomes
    done = [run for run in record.runs if run.arm_id == arm.id and run.state == RunState.DONE]
    counts = pooled((counted(run.counts, corrupt=corrupt) for run in done), corrupt=corrupt)
    name = f"{arm.name} [{arm.tag}]" if arm.tag else arm.name
    return (
        f"{name} (baseline)" if arm.is_baseline else name,
        str(len(done)),
        corrupt_text(counts),
        evidence_text(counts),
        silent_text(counts) or "none",
        count_text(sum(run.wedge_requests for run in done)),
    )


def _attribution_section(record: CampaignRecord) -> tuple[Section, ...]:
    if not record.attribution:
        return ()
    return (Section("What corruption needs", tuple(map(Paragraph, record.attribution))),)


def _left_out_section(record: CampaignRecord) -> tuple[Section, ...]:
    """Runs whose evidence does not count, and flags of those that do."""
    left_out = [run for run in record.runs if run.state != RunState.DONE]
    flagged = [run for run in record.runs if run.state == RunState.DONE and run.flags]
    harness_errors = sum(run.n_harness_error for run in record.runs)
    if not left_out and not flagged and not harness_errors:
        return ()
    names = {arm.id: arm.name for arm in record.arms}
    rows = tuple(
        (
            format_id(IdKind.RUN, run.id),
            names[run.arm_id],
            str(run.block),
            run.state,
            ", ".join(run.flags) or "none",
            run.reason or "none",
        )
        for run in (*left_out, *flagged)
    )
    table = Table(("run", "arm", "block", "state", "flags", "reason"), rows)
    said = Paragraph(
        f"{len(left_out)} runs stand outside all rates; {harness_errors} sessions were our own "
        "fault and are in no denominator."
    )
    return (Section("Left out and flagged", (said, table), SectionTag.ACTION_NEEDED),)


def _examples_section(record: CampaignRecord) -> tuple[Section, ...]:
    if not record.examples:
        return ()
    blocks: list[Paragraph | Verbatim] = []
    for each in record.examples:
        name = format_id(IdKind.SESSION, each.session_id)
        run = format_id(IdKind.RUN, each.run_id)
        blocks.append(Paragraph(f"{name} of {run}, {each.arm_name}, {each.outcome}: {each.detail}"))
        blocks.append(Verbatim(each.text or "(no text)"))
    return (Section("Corrupt sessions, examples", tuple(blocks)),)


def _method_section(record: CampaignRecord) -> Section:
    campaign = record.campaign
    measured_s = sum(run.wall_s or 0.0 for run in record.runs)
    lines = (
        f"Stack {campaign.stack}; order seed {campaign.order_seed}; started "
        f"{moment_text(campaign.created_at_us)}; sessions were driven for "
        f"{duration_text(measured_s)} in all; Decisive {campaign.code_version}.",
        "Corrupt counts: " + ", ".join(campaign.corrupt_outcomes) + ".",
    )
    return Section("How it was measured", tuple(Paragraph(line) for line in lines))
