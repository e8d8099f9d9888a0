"""What a report says of failures that look alike, and of what was logged near them."""

from collections.abc import Mapping

from runner.evidence.linkage_words import linkage_lines
from runner.execute.stored_failures import Failures
from runner.failures.clusters import FailureCluster
from runner.failures.failure_words import enrichment_lines
from runner.report.document import Block, Heading, Paragraph, Section, Span, Table, Words
from runner.report.page_addresses import linked, session_link

MOST_CLUSTERS = 20
_MOST_NAMES = 4


def failures_section(failures: Failures | None, *, hides_prompts: bool) -> tuple[Section, ...]:
    """None where no session failed. What servers said of an error may quote a prompt."""
    if failures is None or not failures.clusters:
        return ()
    shown = failures.clusters[:MOST_CLUSTERS]
    header = ("what it looks like", "sessions", "runs", "turns", "arms", "logged near", "examples")
    rows = tuple(_row(each, hides_prompts=hides_prompts) for each in shown)
    table = Table(header, rows, numeric=frozenset({1, 2}))
    blocks: list[Block] = [table]
    rest = failures.clusters[MOST_CLUSTERS:]
    if rest:
        sessions = sum(each.sessions for each in rest)
        blocks.append(Paragraph(f"{len(rest):,} smaller ones with {sessions:,} sessions in all."))
    for title, events in (
        ("Logged near corrupt sessions", failures.near_corrupt),
        ("Logged near silent sessions", failures.near_silent),
    ):
        if events:
            blocks.append(Heading(title))
            blocks += [Paragraph(line.strip()) for line in enrichment_lines(events)]
    said = linkage_lines(failures.linkage)
    if said:
        blocks.append(Heading("Are wedges and corruption linked?"))
        blocks += [Paragraph(linked(line)) for line in said]
    if failures.is_cut:
        blocks.append(Paragraph("Only the first of very many turns were looked at."))
    return (Section("Failures that look alike", tuple(blocks)),)


def _row(cluster: FailureCluster, *, hides_prompts: bool) -> tuple[Words, ...]:
    signature = cluster.signature
    turns = {f"turn {turn + 1}": number for turn, number in cluster.by_turn.items()}
    return (
        signature.text_without_detail if hides_prompts else signature.text,
        f"{cluster.sessions:,}",
        f"{cluster.runs:,}",
        _named(turns),
        _named(cluster.by_arm),
        _named(cluster.by_event) or "nothing",
        _examples(cluster),
    )


def _named(counts: Mapping[str, int]) -> str:
    """The most frequent ones, each with its number."""
    few = sorted(counts.items(), key=lambda item: -item[1])[:_MOST_NAMES]
    shown = ", ".join(f"{name}: {number:,}" for name, number in few)
    rest = len(counts) - len(few)
    return f"{shown} and {rest:,} more" if rest else shown


def _examples(cluster: FailureCluster) -> Words:
    spans: list[Span] = []
    for session_id in cluster.examples:
        spans += [", ", session_link(session_id)] if spans else [session_link(session_id)]
    return tuple(spans)
