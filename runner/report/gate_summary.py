"""A campaign on the page of the job that ran it: what was decided, by which arms, and why it ended.

The same document as any report, without what only a person who digs needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from runner.report.arm_sections import arms_section
from runner.report.campaign_report import campaign_report
from runner.report.document import (
    Block,
    OutcomeFigure,
    Paragraph,
    RateFigure,
    ReportDocument,
    Section,
    SectionTag,
    Table,
    with_texts,
)
from runner.report.markdown import to_markdown
from runner.report.report_record import CampaignRecord
from runner.report.verdict_sections import verdicts_section

_MOST_ROWS = 100
"""A job's summary may be 1 MiB in all, which several steps share."""


def gate_summary(
    record: CampaignRecord,
    *,
    ended: str,
    is_fine: bool,
    notes: Sequence[str],
    redact: Callable[[str], str],
) -> str:
    """`ended`: the exit status in words; `is_fine`: whether it is 0; `notes`: why the command ended
    before all was run.
    """
    whole = campaign_report(record)
    tag = SectionTag.INFORMATION if is_fine else SectionTag.ACTION_NEEDED
    head = Section("How it ended", tuple(map(Paragraph, (ended, *notes))), tag)
    arms = arms_section(record.results, title="Arms", silence=record.silence)
    document = ReportDocument(
        title=whole.title,
        summary=whole.summary,
        made_from=whole.made_from,
        sections=(
            head,
            _short(verdicts_section(record.campaign.id, record.verdicts)),
            _short(arms),
        ),
    )
    return to_markdown(with_texts(document, redact), section_level=3)


def _short(section: Section) -> Section:
    """Figures are for pages; of a table its first rows."""
    blocks: list[Block] = []
    for block in section.blocks:
        if isinstance(block, RateFigure | OutcomeFigure):
            continue
        if isinstance(block, Table) and len(block.rows) > _MOST_ROWS:
            rest = len(block.rows) - _MOST_ROWS
            blocks.append(replace(block, rows=block.rows[:_MOST_ROWS]))
            blocks.append(Paragraph(f"{rest:,} more rows are in the report."))
        else:
            blocks.append(block)
    return replace(section, blocks=tuple(blocks))
