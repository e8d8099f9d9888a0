"""Clusters of failures and what is logged near them, in lines; names no cause. Pure."""

from collections.abc import Mapping, Sequence

from db.identifiers import IdKind, format_id
from runner.evidence.number_words import counted_text, of_text, p_text
from runner.evidence.wording import moment_text
from runner.failures.clusters import FailureCluster
from runner.failures.enrichment import EnrichedEvent
from runner.failures.nearby_events import BEFORE_S

_SHOWN = 4


def cluster_lines(
    clusters: Sequence[FailureCluster], *, sessions: int, most: int = 20
) -> list[str]:
    """Two to four lines each, the largest first. `sessions`: how many there were in all."""
    if not clusters and not sessions:
        return ["No run that is done has a session yet."]
    if not clusters:
        return [f"None of {counted_text(sessions, 'session')} failed."]
    total = sum(each.sessions for each in clusters)
    lines = [
        f"{counted_text(total, 'session')} failed in "
        f"{counted_text(len(clusters), 'way')} that can be told apart."
    ]
    for number, each in enumerate(clusters[:most], start=1):
        lines += _lines_of(number, each)
    if len(clusters) > most:
        rest = sum(each.sessions for each in clusters[most:])
        lines.append(f"and {len(clusters) - most:,} smaller ones with {rest:,} in all")
    return lines


def enrichment_lines(events: Sequence[EnrichedEvent], *, most: int = 8) -> list[str]:
    """What was logged near failing turns, held against other turns."""
    if not events:
        return ["No log event stands near any turn that could be held against others."]
    lines = [
        f"Log events within a turn or up to {BEFORE_S:g} s before it, in turns that failed and in "
        "others of the turn number and run:"
    ]
    for each in events[:most]:
        here = of_text(each.failing_near, each.failing)
        there = of_text(each.others_near, each.others)
        judged = (
            p_text(each.adjusted_p)
            if each.association.strata
            else "cannot be held against each other within a run and turn"
        )
        lines.append(
            f"  {each.kind} ({each.event_class}): {here} failing, {there} others; {judged}"
        )
    if len(events) > most:
        lines.append(f"  and {counted_text(len(events) - most, 'further kind')}")
    lines.append(
        "Each p is exact within runs and turn numbers, for more often near failing turns, and "
        "adjusted over all kinds (Benjamini-Hochberg). Sessions of one run are not independent, "
        "so it may be too small; what is logged near a failure need not be its cause."
    )
    return lines


def _lines_of(number: int, cluster: FailureCluster) -> list[str]:
    examples = ", ".join(format_id(IdKind.SESSION, each) for each in cluster.examples)
    turns = {f"turn {turn + 1}": n for turn, n in cluster.by_turn.items()}
    lines = [
        f"{number}. {cluster.signature.text}",
        f"   {counted_text(cluster.sessions, 'session')} in {counted_text(cluster.runs, 'run')}, "
        f"{_seen_text(cluster)}; e.g. {examples}",
        f"   {_counts_text(turns)}; {_counts_text(cluster.by_arm)}",
    ]
    if cluster.by_tool:
        lines.append(f"   call due of: {_counts_text(cluster.by_tool)}")
    if cluster.by_event:
        lines.append(f"   logged near it: {_counts_text(cluster.by_event)}")
    return lines


def _seen_text(cluster: FailureCluster) -> str:
    if cluster.first_at_us is None or cluster.last_at_us is None:
        return "at times that are not known"
    return f"{moment_text(cluster.first_at_us)} to {moment_text(cluster.last_at_us)}"


def _counts_text(counts: Mapping[str, int]) -> str:
    few = sorted(counts.items(), key=lambda item: -item[1])[:_SHOWN]
    shown = ", ".join(f"{name}: {n:,}" for name, n in few)
    rest = len(counts) - len(few)
    return shown + (f" and {rest:,} more" if rest else "")
