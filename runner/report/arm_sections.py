"""What reports of every scope say of arms and runs: figures, tables, what was left out and why."""

from collections.abc import Sequence

from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.evidence.counts import counted
from runner.evidence.number_words import counted_text
from runner.evidence.wording import (
    corrupt_text,
    count_text,
    duration_text,
    evidence_text,
    silent_text,
)
from runner.report.arm_result import ArmResult
from runner.report.document import (
    Block,
    Link,
    OutcomeBar,
    OutcomeFigure,
    Paragraph,
    RateFigure,
    RateMark,
    Section,
    SectionRole,
    SectionTag,
    Table,
    Words,
)
from runner.report.page_addresses import arm_page, linked, run_link, run_page

MOST_RUNS = 200
_NOT_WATCHED = "not watched"
_NOT_TOLD = "not told"
_INTERVALS = (
    "Intervals are Wilson 95 %, with silent sessions counted as clean at the left end and as "
    "corrupt at the right one. Sessions of one run are not independent, so these intervals are for "
    "reading, not for deciding."
)


def arms_section(results: Sequence[ArmResult], *, title: str, silence: Sequence[str]) -> Section:
    if not results:
        return Section(title, (Paragraph("No arm was planned."),))
    blocks: tuple[Block, ...] = (
        rate_figure(results),
        outcome_figure(results),
        Table(
            ("arm", "runs", "corrupt of all", "evidence", "silent", "wedges", "wedged requests"),
            tuple(_arm_row(result) for result in results),
            numeric=frozenset({1, 5, 6}),
        ),
        Paragraph(_INTERVALS),
        *(Paragraph(linked(line)) for line in silence),
    )
    return Section(title, blocks)


def rate_figure(results: Sequence[ArmResult]) -> RateFigure:
    return RateFigure(
        "Corrupt of all sessions: the rate, its interval, and the rates of single runs.",
        tuple(_rate_mark(result) for result in results),
    )


def outcome_figure(results: Sequence[ArmResult]) -> OutcomeFigure:
    bars = tuple(OutcomeBar(_arm_link(result), result.by_class) for result in results)
    return OutcomeFigure("How the sessions of each arm ended.", bars)


def runs_section(results: Sequence[ArmResult]) -> Section:
    """Every attempt in the order in which it was planned, up to `MOST_RUNS` of them."""
    rows = [(run, result) for result in results for run in result.runs]
    rows.sort(key=lambda row: (row[0].block, row[0].position, row[0].attempt))
    table = Table(
        ("run", "arm", "block", "state", "corrupt", "silent", "wedges", "driven for"),
        tuple(_run_row(run, result) for run, result in rows[:MOST_RUNS]),
        numeric=frozenset({2, 6, 7}),
    )
    if not rows:
        return Section("Runs", (Paragraph("No run was planned."),), role=SectionRole.DETAIL)
    rest = len(rows) - MOST_RUNS
    more = (Paragraph(f"{counted_text(rest, 'further run')} in the table of runs."),)
    blocks = (table, *(more if rest > 0 else ()))
    return Section("Runs", blocks, role=SectionRole.DETAIL)


def exclusions_section(results: Sequence[ArmResult]) -> Section:
    """Runs whose evidence does not count, flags of those that do, sessions that are our fault."""
    runs = [(run, result) for result in results for run in result.runs]
    ended = [row for row in runs if row[0].run_state.is_terminal]
    left_out = [row for row in ended if row[0].run_state is not RunState.DONE]
    waiting = len(runs) - len(ended)
    flagged = [row for row in ended if row not in left_out and row[0].flags]
    ours = sum(run.n_harness_error for run, _ in runs)
    said = [
        f"{counted_text(len(left_out), 'run')} that ended and {counted_text(waiting, 'run')} not "
        f"ended yet stand outside all rates; {counted_text(ours, 'session')} that the client "
        "failed by itself are in no denominator."
    ]
    if not left_out and not flagged:
        tag = SectionTag.ACTION_NEEDED if ours else SectionTag.INFORMATION
        return Section("Left out and flagged", tuple(map(Paragraph, said)), tag)
    table = Table(
        ("run", "arm", "block", "state", "flags", "reason"),
        tuple(_flag_row(run, result) for run, result in (*left_out, *flagged)[:MOST_RUNS]),
        numeric=frozenset({2}),
    )
    blocks: tuple[Block, ...] = (*map(Paragraph, said), table)
    return Section("Left out and flagged", blocks, SectionTag.ACTION_NEEDED)


def _arm_link(result: ArmResult) -> Link:
    return Link(result.name, arm_page(result.arm.id))


def _to_arm(text: str, result: ArmResult) -> Words:
    return (Link(text, arm_page(result.arm.id)),) if text else ""


def _arm_row(result: ArmResult) -> tuple[Words, ...]:
    counts, wedges, requests = result.counts, result.wedges, result.wedge_requests
    return (
        (_arm_link(result),),
        _to_arm(str(len(result.done)), result),
        _to_arm(corrupt_text(counts), result),
        _to_arm(evidence_text(counts), result),
        _to_arm(silent_text(counts) or "none", result),
        _to_arm(_NOT_WATCHED if wedges is None else count_text(wedges), result),
        _to_arm(_NOT_TOLD if requests is None else count_text(requests), result),
    )


def _rate_mark(result: ArmResult) -> RateMark:
    counts = result.counts
    bounds, rate = counts.bounds, counts.corrupt_of_all
    if bounds is None or rate is None:
        return RateMark(_arm_link(result), "no sessions", None, None, None)
    low, high = bounds.wilson()
    said = corrupt_text(counts)
    return RateMark(_arm_link(result), said, rate.value, low, high, result.rates_of_runs)


def _run_row(run: RunCounts, result: ArmResult) -> tuple[Words, ...]:
    counts = counted(run.counts, corrupt=result.corrupt)

    def to_run(text: str) -> Words:
        return (Link(text, run_page(run.id)),)

    return (
        (run_link(run.id),),
        (_arm_link(result),),
        str(run.block),
        run.state if run.attempt == 1 else f"{run.state} (attempt {run.attempt})",
        to_run(f"{counts.corrupt:,}/{counts.all:,}"),
        to_run(count_text(counts.silent)),
        to_run(_NOT_WATCHED if run.wedges is None else count_text(run.wedges)),
        to_run(duration_text(run.wall_s)) if run.wall_s is not None else "not driven",
    )


def _flag_row(run: RunCounts, result: ArmResult) -> tuple[Words, ...]:
    flags = ", ".join(str(flag).replace("_", " ") for flag in run.flags) or "none"
    return (
        (run_link(run.id),),
        (_arm_link(result),),
        str(run.block),
        run.state,
        flags,
        run.reason or "none",
    )
