"""The report on a campaign, from its stored facts; it counts nothing that was not given."""

from collections.abc import Sequence

from db.identifiers import IdKind, format_id
from runner.evidence.wording import count_text, duration_text
from runner.report.arm_sections import arms_section, exclusions_section, runs_section
from runner.report.document import (
    Block,
    Paragraph,
    ReportDocument,
    Section,
    SectionRole,
    Verbatim,
)
from runner.report.failure_sections import failures_section
from runner.report.moments import dated_text
from runner.report.page_addresses import linked, session_link
from runner.report.report_record import CampaignRecord, ReportedSession
from runner.report.stack_sections import stack_sections
from runner.report.verdict_sections import false_alarms_section, verdicts_section


def campaign_report(record: CampaignRecord) -> ReportDocument:
    campaign, results = record.campaign, record.results
    return ReportDocument(
        title=f"{campaign.name} ({format_id(IdKind.CAMPAIGN, campaign.id)})",
        summary=campaign.question,
        made_from=made_from(record),
        sections=(
            verdicts_section(campaign.id, record.verdicts),
            arms_section(results, title="Arms", silence=record.silence),
            *attribution_section(record),
            exclusions_section(results),
            *false_alarms_section(record.verdicts),
            *failures_section(record.failures, hides_prompts=record.hides_prompts),
            *examples_section(record.examples),
            runs_section(results),
            method_section(record),
            *stack_sections(record.launches, results),
            file_section(record),
        ),
    )


def made_from(record: CampaignRecord) -> str:
    name = format_id(IdKind.CAMPAIGN, record.campaign.id)
    at = dated_text(record.stood_at_us)
    made = f"Made from {name} as it was stored at {at}, run by Decisive {_version(record)}."
    done, planned = record.runs_done, record.runs_planned
    if done == planned:
        return made
    return f"{made} {done:,} of its {planned:,} runs were done then, and verdicts rest on these."


def attribution_section(record: CampaignRecord) -> tuple[Section, ...]:
    if not record.attribution:
        return ()
    # The stars of the sentence stand for stress, which is not shown here.
    said = (Paragraph(linked(line.replace("*and*", "and"))) for line in record.attribution)
    return (Section("What corruption needs", tuple(said)),)


def examples_section(examples: Sequence[ReportedSession]) -> tuple[Section, ...]:
    if not examples:
        return ()
    return (Section("Corrupt sessions, examples", example_blocks(examples)),)


def example_blocks(examples: Sequence[ReportedSession]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for each in examples:
        run = format_id(IdKind.RUN, each.run_id)
        said = linked(f" of {run}, ")
        where = (said,) if isinstance(said, str) else said
        detail = f"{each.arm_name}, {each.outcome}{f': {each.detail}' if each.detail else ''}"
        blocks.append(Paragraph((session_link(each.session_id), *where, detail)))
        blocks.append(Verbatim(each.text or "(no text)"))
    return tuple(blocks)


def method_section(record: CampaignRecord) -> Section:
    campaign = record.campaign
    measured_s = sum(run.wall_s or 0.0 for run in record.runs)
    blocks = {run.block for run in record.runs}
    lines = (
        f"Stack {campaign.stack}; {count_text(len(record.runs))} runs in "
        f"{count_text(len(blocks))} blocks, arms in random order inside a block (order seed "
        f"{campaign.order_seed}); begun {dated_text(campaign.created_at_us)}; sessions were driven "
        f"for {duration_text(measured_s)} in all; Decisive {_version(record)}.",
        "Corrupt counts: " + ", ".join(campaign.corrupt_outcomes) + ".",
    )
    return Section("How it was measured", tuple(map(Paragraph, lines)))


def file_section(record: CampaignRecord) -> Section:
    """The file as it was read; saved, it runs the campaign again. Without prompts, what is left."""
    blocks: tuple[Block, ...] = (Paragraph(_of_file(record)),)
    if record.source_text:
        blocks = (*blocks, Verbatim(record.source_text))
    return Section("Campaign file", blocks, role=SectionRole.REPRODUCTION)


def _of_file(record: CampaignRecord) -> str:
    if record.source_text is None:
        return "It is left out: what in it is a prompt cannot be told."
    if not record.source_text:
        return "None: other tools made the runs of this campaign."
    if record.hides_prompts:
        return (
            "Written anew without its comments and what it has the client say (system, request): "
            "its sessions are not played again by this."
        )
    return "Saved as a file, this is played again by decisive run FILE."


def _version(record: CampaignRecord) -> str:
    return record.campaign.code_version
