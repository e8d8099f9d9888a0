"""Whether two sides may be compared, and what a reader must know where they may not; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.wording import counted_noun, flag_words
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.difference.configuration import ABSENT, FACTOR, SAID, ConfigRow
from runner.evidence.counts import SessionCounts
from runner.evidence.wording import bears_rate


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two under its letter: a run, or the finished runs of an arm; counts pooled."""

    letter: str
    runs: tuple[RunCounts, ...]
    counts: SessionCounts

    @property
    def wedge_requests(self) -> int:
        return sum(run.wedge_requests for run in self.runs)

    @property
    def wedge_lines(self) -> int:
        return sum(run.wedge_lines for run in self.runs)

    @property
    def peak_running(self) -> float | None:
        known = (run.peak_running for run in self.runs if run.peak_running is not None)
        return max(known, default=None)

    @property
    def wall_s(self) -> float | None:
        """Of all its runs together."""
        known = [run.wall_s for run in self.runs if run.wall_s is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Fairness:
    """`problems` forbid a comparison of rates; `notes` are to be kept in mind."""

    problems: list[str]
    notes: list[str]
    declared: list[str]


def judge_fairness(a: Side, b: Side, rows: Sequence[ConfigRow], *, same_campaign: bool) -> Fairness:
    sides = (a, b)
    problems = [problem for side in sides for problem in _problems(side)]
    if {run.id for run in a.runs} == {run.id for run in b.runs}:
        problems.append("A and B are the same run" + "s" * (len(a.runs) != 1))
    declared = [row.name for row in rows if row.differs and row.kind == FACTOR]
    notes = _notes(sides, rows, same_campaign=same_campaign)
    return Fairness(problems, notes, declared)


def _notes(
    sides: tuple[Side, Side], rows: Sequence[ConfigRow], *, same_campaign: bool
) -> list[str]:
    notes = [note for side in sides for note in (_why_it_ended(side), _flags(side)) if note]
    if not same_campaign:
        notes.append("they belong to different campaigns, so the dialogues may differ")
    planned = [sum(run.sessions_planned for run in side.runs) for side in sides]
    if planned[0] != planned[1]:
        notes.append(f"A planned {planned[0]} sessions, B {planned[1]}")
    blocks = [sorted({run.block for run in side.runs}) for side in sides]
    if blocks[0] != blocks[1]:
        a_blocks, b_blocks = (_listed(numbers) for numbers in blocks)
        notes.append(f"they ran in different blocks ({a_blocks} and {b_blocks})")
    return [*notes, *_of_servers([row for row in rows if row.kind == SAID])]


def _of_servers(said: Sequence[ConfigRow]) -> list[str]:
    """Of a server that never answered nothing is known: that is no difference."""
    if not said:
        return []
    for letter, words in (("A", [row.a for row in said]), ("B", [row.b for row in said])):
        if set(words) == {ABSENT}:
            return [f"nothing is known of the servers of {letter}"]
    differing = sum(row.differs for row in said)
    if not differing:
        return []
    return [f"the servers describe themselves differently in {counted_noun(differing, 'fact')}"]


def _problems(side: Side) -> list[str]:
    counts = side.counts
    found = [
        f"{side.letter} is {run.state}: its sessions stand outside all rates"
        for run in side.runs
        if run.run_state is not RunState.DONE
    ]
    if not side.runs:
        found.append(f"{side.letter} has no finished run")
    elif counts.all == 0:
        found.append(f"no session of {side.letter} has ended")
    elif counts.silent and not bears_rate(counts):
        found.append(f"{counts.silent} of {counts.all} sessions of {side.letter} gave no evidence")
    return found


def _why_it_ended(side: Side) -> str:
    """Of a run that does not count; the log that may follow its reason stands on its own page."""
    ended = [run for run in side.runs if run.run_state.is_terminal and run.reason]
    not_done = [run for run in ended if run.run_state is not RunState.DONE]
    reasons = "; ".join((run.reason or "").partition("\n")[0].rstrip(".") for run in not_done)
    return f"{side.letter} {not_done[0].state}: {reasons}" if not_done else ""


def _flags(side: Side) -> str:
    words = flag_words(sorted({str(flag) for run in side.runs for flag in run.flags}))
    return f"{side.letter}: {words}" if words else ""


def _listed(blocks: Sequence[int]) -> str:
    return ", ".join(map(str, blocks)) or "none"
