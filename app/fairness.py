"""Whether two runs may be compared, and what a reader must know where they may not; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.wording import counted_noun, flag_words
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.difference.configuration import FACTOR, SAID, ConfigRow
from runner.evidence.counts import SessionCounts
from runner.evidence.wording import bears_rate


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs under its letter."""

    letter: str
    run: RunCounts
    counts: SessionCounts


@dataclass(frozen=True, slots=True)
class Fairness:
    """`problems` forbid a comparison of rates; `notes` are to be kept in mind."""

    problems: list[str]
    notes: list[str]
    declared: list[str]


def judge_fairness(a: Side, b: Side, rows: Sequence[ConfigRow], *, same_campaign: bool) -> Fairness:
    sides = (a, b)
    problems = [problem for side in sides for problem in _problems(side)]
    notes = [note for side in sides if (note := _flags(side))]
    if not same_campaign:
        notes.append("they belong to different campaigns, so the dialogues may differ")
    if a.run.sessions_planned != b.run.sessions_planned:
        notes.append(f"A planned {a.run.sessions_planned} sessions, B {b.run.sessions_planned}")
    if a.run.block != b.run.block:
        notes.append(f"they ran in different blocks ({a.run.block} and {b.run.block})")
    if a.run.id == b.run.id:
        problems.append("A and B are the same run")
    said = sum(row.differs and row.kind == SAID for row in rows)
    if said:
        notes.append(f"the servers describe themselves differently in {counted_noun(said, 'fact')}")
    declared = [row.name for row in rows if row.differs and row.kind == FACTOR]
    return Fairness(problems, notes, declared)


def _problems(side: Side) -> list[str]:
    counts = side.counts
    found = []
    if side.run.run_state is not RunState.DONE:
        found.append(f"{side.letter} is {side.run.state}: its sessions stand outside all rates")
    if counts.all == 0:
        found.append(f"no session of {side.letter} has ended")
    elif counts.silent and not bears_rate(counts):
        found.append(f"{counts.silent} of {counts.all} sessions of {side.letter} gave no evidence")
    return found


def _flags(side: Side) -> str:
    words = flag_words(side.run.flags)
    return f"{side.letter}: {words}" if words else ""
