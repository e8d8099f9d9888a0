"""The report on two arms: the verdict between them, and in what they and their servers differ."""

from db.identifiers import IdKind, format_id
from runner.campaign.file_shape import level_text
from runner.report.arm_sections import arms_section, exclusions_section, runs_section
from runner.report.campaign_report import (
    examples_section,
    file_section,
    made_from,
    method_section,
)
from runner.report.document import (
    Block,
    Heading,
    Link,
    Paragraph,
    ReportDocument,
    Section,
    SectionTag,
    Table,
)
from runner.report.page_addresses import campaign_page
from runner.report.report_record import ComparisonRecord, ReportedLaunch
from runner.report.stack_sections import stack_sections
from runner.report.verdict_sections import false_alarms_section, tag_of, verdict_blocks


def comparison_report(record: ComparisonRecord) -> ReportDocument:
    whole = record.whole
    pair = tuple(
        result
        for arm in (record.arm, record.versus)
        for result in whole.results
        if result.arm.id == arm.id
    )
    campaign = Link(whole.campaign.name, campaign_page(whole.campaign.id))
    names = " v ".join(format_id(IdKind.ARM, each.arm.id) for each in pair)
    return ReportDocument(
        title=f"{record.arm.name} v {record.versus.name} ({names})",
        summary=("Two arms of ", campaign, f": {whole.campaign.question}"),
        made_from=made_from(whole),
        sections=(
            Section(
                "Verdict",
                verdict_blocks(whole.campaign.id, record.verdict)[1:],
                tag_of([record.verdict]),
            ),
            arms_section(pair, title="Arms", silence=_silence(record)),
            _difference_section(record),
            exclusions_section(pair),
            *false_alarms_section([record.verdict]),
            *examples_section(record.examples),
            runs_section(pair),
            method_section(whole),
            *stack_sections(_launches(record), pair),
            file_section(whole),
        ),
    )


def _launches(record: ComparisonRecord) -> list[ReportedLaunch]:
    ids = {record.arm.id, record.versus.id}
    return [each for each in record.whole.launches if ids.intersection(each.arm_ids)]


def _silence(record: ComparisonRecord) -> list[str]:
    """Lines begin with the name of their arm."""
    names = tuple(f"{arm.name}: " for arm in (record.arm, record.versus))
    return [line for line in record.whole.silence if line.startswith(names)]


def _difference_section(record: ComparisonRecord) -> Section:
    first, second = record.arm.levels, record.versus.levels
    rows = tuple(
        (factor, level_text(first[factor]), level_text(second[factor]))
        for factor in first
        if factor in second and first[factor] != second[factor]
    )
    blocks: list[Block] = [Table(("factor", record.arm.name, record.versus.name), rows)]
    if record.undeclared:
        blocks.append(Heading("Differences of the servers that no level declares"))
        blocks += [Paragraph(each) for each in record.undeclared]
    tag = SectionTag.ACTION_NEEDED if record.undeclared else SectionTag.INFORMATION
    return Section("In what they differ", tuple(blocks), tag)
