"""The report on one arm: its levels, what was proven of them, its runs and its failing sessions."""

import json
from collections.abc import Iterator
from typing import Any

from db.identifiers import IdKind, format_id
from runner.campaign.file_shape import level_text
from runner.report.arm_result import ArmResult
from runner.report.arm_sections import arms_section, exclusions_section, runs_section
from runner.report.campaign_report import examples_section, made_from, method_section
from runner.report.document import (
    Block,
    Heading,
    Link,
    Paragraph,
    ReportDocument,
    Section,
    SectionTag,
    Table,
    Words,
)
from runner.report.page_addresses import campaign_page, run_link
from runner.report.report_record import ArmRecord, ReportedLaunch
from runner.report.stack_sections import stack_sections

_ANSWER = {True: "holds", False: "does not hold", None: "cannot be proven"}


def arm_report(record: ArmRecord) -> ReportDocument:
    whole, arm = record.whole, record.arm
    own = tuple(result for result in whole.results if result.arm.id == arm.id)
    campaign = Link(whole.campaign.name, campaign_page(whole.campaign.id))
    return ReportDocument(
        title=f"{arm.name} ({format_id(IdKind.ARM, arm.id)})",
        summary=("An arm of ", campaign, f": {whole.campaign.question}"),
        made_from=made_from(whole),
        sections=(
            Section("Levels", (_levels(own),)),
            arms_section(own, title="Result", silence=record.silent),
            exclusions_section(own),
            _proof_section(record),
            *examples_section(record.examples),
            runs_section(own),
            method_section(whole),
            *stack_sections(_launches(record), own),
        ),
    )


def _launches(record: ArmRecord) -> list[ReportedLaunch]:
    return [each for each in record.whole.launches if record.arm.id in each.arm_ids]


def _levels(own: tuple[ArmResult, ...]) -> Table:
    rows: tuple[tuple[Words, ...], ...] = tuple(
        (factor, level_text(level)) for result in own for factor, level in result.arm.levels.items()
    )
    return Table(("factor", "level"), rows)


def _proof_section(record: ArmRecord) -> Section:
    """What the servers' own reports said to each level, and whether its path was used."""
    checks = tuple(_check_rows(record))
    used = tuple(_exposure_rows(record))
    blocks: list[Block] = []
    if checks:
        header = ("run", "factor", "level", "asked of", "expected", "found", "")
        blocks.append(Table(header, checks))
    else:
        blocks.append(Paragraph("No run of this arm was verified."))
    if used:
        blocks.append(Heading("Paths in use"))
        blocks.append(Table(("run", "factor", "counter", "grown by", ""), used, frozenset({3})))
    is_sound = all(plain_cell(row[-1]) == "holds" for row in checks) and checks
    tag = SectionTag.INFORMATION if is_sound else SectionTag.ACTION_NEEDED
    return Section("Is the arm what it says?", tuple(blocks), tag)


def plain_cell(cell: Words) -> str:
    return cell if isinstance(cell, str) else ""


def _check_rows(record: ArmRecord) -> Iterator[tuple[Words, ...]]:
    for proof in record.proofs:
        for check in proof.verification:
            yield (
                (run_link(proof.id),),
                str(check.get("factor", "")),
                _text(check.get("level")),
                f"{check.get('service') or ''} {check.get('path') or ''}".strip() or "nothing",
                _text(check.get("expected")),
                _text(check.get("found")),
                _ANSWER.get(check.get("holds"), "cannot be proven"),
            )


def _exposure_rows(record: ArmRecord) -> Iterator[tuple[Words, ...]]:
    for proof in record.proofs:
        for counter in proof.exposure.get("counters") or ():
            yield (
                (run_link(proof.id),),
                str(counter.get("factor", "")),
                str(counter.get("counter", "")),
                _text(counter.get("grown")),
                "used" if counter.get("exercised") else "not seen in use",
            )


def _text(value: Any) -> str:
    if value is None:
        return "not reported"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
