"""What the recorded bytes of a run say of its wedges, beside the spans that the rules found."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlmodel import col, select

from db.reads.wedges import WedgeSpan, run_stillness
from db.store import Store
from db.tables.campaigns import ArmRow
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.vocabulary import RawKind, RunState
from tests.bench.wedge_plans import FAULTS, Fault, Plan

VICTIM_GAP_S = 10.0
"""A pause of this length makes a victim: above half of the longest pause, which is 7 s here."""

SURELY_NONE_S = 5.0
"""Who never paused for so long is none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One request as its bytes came: `moments` are of its sending, each read, and its end, in s."""

    request_id: str
    session_index: int
    moments: tuple[float, ...]
    reads: tuple[float, ...]

    def longest_gap_s(self, from_s: float = 0.0, to_s: float = float("inf")) -> float:
        """The longest stretch without a byte, as much of it as lies between the two moments."""
        gaps = (min(b, to_s) - max(a, from_s) for a, b in pairwise(self.moments))
        return max(gaps, default=0.0)


@dataclass(slots=True)
class Measured:
    """One run beside what its recorded bytes say."""

    arm: str
    fault: Fault
    sessions: int
    silent: int
    flags: Sequence[str]
    spans: Sequence[WedgeSpan]
    answers: Sequence[Answer]

    @property
    def right_count(self) -> bool:
        return len(self.spans) == self.fault.wedges

    def victims(self) -> tuple[int, int, int]:
        """Who paused, of those who was named, and who was named and did not pause."""
        by_name = {each.request_id: each for each in self.answers}
        named = {each.request_id for span in self.spans for each in span.victims}
        paused = {
            each.request_id
            for from_s, to_s in self.stillnesses()
            for each in self.answers
            if each.longest_gap_s(from_s, to_s) >= VICTIM_GAP_S
        }
        invented = {
            name
            for name in named
            if name in by_name and by_name[name].longest_gap_s() < SURELY_NONE_S
        }
        return len(paused), len(paused & named), len(invented)

    def stillnesses(self) -> list[tuple[float, float]]:
        """For each span: the last byte of any answer before its finding, and the first after it.

        Before any byte it is the first request that was sent.
        """
        reads = sorted(at for each in self.answers for at in each.reads)
        found: list[tuple[float, float]] = []
        for span in self.spans:
            assert span.confirmed_at_us is not None
            at = bisect(reads, span.confirmed_at_us / 1e6)
            began_s = reads[at - 1] if at > 0 else min(each.moments[0] for each in self.answers)
            found.append((began_s, reads[at] if at < len(reads) else float("inf")))
        return found

    def start_errors_s(self) -> list[float]:
        """Start of the span minus the moment of the last token before it."""
        return [
            span.started_at_us / 1e6 - from_s
            for span, (from_s, _) in zip(self.spans, self.stillnesses(), strict=True)
        ]

    def delays_s(self) -> list[float]:
        return [
            (span.confirmed_at_us - span.started_at_us) / 1e6
            for span in self.spans
            if span.confirmed_at_us is not None
        ]


def measured_runs(store: Store, plan: Plan) -> list[Measured]:
    """The runs that were driven to their end."""
    with store.session() as session:
        runs = session.exec(select(RunRow).where(RunRow.state == RunState.DONE)).all()
        arms = {arm.id: arm for arm in session.exec(select(ArmRow)).all()}
        found: list[Measured] = []
        for run in runs:
            assert run.id is not None
            levels = arms[run.arm_id].levels
            name = f"{levels['fault']}, C={levels['concurrency']}"
            if plan.context_tokens > 200:
                name += ", long prompts"
            found.append(
                Measured(
                    arm=name,
                    fault=FAULTS[levels["fault"]],
                    sessions=run.n_ended,
                    silent=run.n_error,
                    flags=run.flags,
                    spans=run_stillness(session.connection(), run.id).spans,
                    answers=_answers(session, run.id),
                )
            )
        return found


def _answers(session: Any, run_id: int) -> list[Answer]:
    statement = (
        select(SessionRow.session_index, TurnRow, RawRow.reads)
        .join(TurnRow, col(TurnRow.session_id) == SessionRow.id)
        .join(RawRow, (col(RawRow.turn_id) == TurnRow.id) & (RawRow.kind == RawKind.RESPONSE))
        .where(SessionRow.run_id == run_id)
    )
    found: list[Answer] = []
    for index, turn, reads in session.exec(statement).all():
        sent_s = turn.started_at_us / 1e6
        read_s = tuple(sent_s + at for at, _ in reads)
        moments = (sent_s, *read_s, sent_s + turn.duration_s)
        found.append(Answer(turn.request_id, index, moments, read_s))
    return found
