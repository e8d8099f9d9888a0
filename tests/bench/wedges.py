"""How rightly wedges are found: campaigns on the testbed with servers that stall, freeze or die.

python -m tests.bench.wedges [BLOCKS [CAMPAIGN[/FAULT] ...]]

Every run is held against the recorded bytes of its answers: when the last token came, and whose
answers paused. Nothing that the rules have computed goes into that.
"""

import asyncio
import os
import signal
import sys
import tempfile
import threading
from bisect import bisect
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from sqlmodel import col, select

from db.reads.wedges import WedgeSpan, run_stillness
from db.store import Store, open_store
from db.tables import ArmRow, LaunchRow, RawRow, RunRow, SessionRow, TurnRow
from db.vocabulary import RawKind, RunState
from runner.campaign.config_folder import ConfigFolder
from runner.cli.opening import open_campaign
from runner.execute.campaign_loop import run_campaign
from runner.execute.heartbeat import heartbeat
from runner.execute.progress import RunOfCampaign, SilentProgress
from runner.execute.run_setting import Patience
from runner.execute.stop_request import StopRequest
from runner.execute.worker_identity import holder_of
from runner.sessions.played_session import PlayedSession

SAMPLING_S = 2.0
VICTIM_GAP_S = 10.0
"""A pause of this length makes a victim: above half of the longest pause, which is 7 s here."""

SURELY_NONE_S = 5.0
"""Who never paused for so long is none."""

ACT_AFTER_SESSIONS = 6

HEADER = (
    "| arm | runs | wedges expected | found | paused for 10 s or more | of them named | "
    "named falsely | start minus last token | found after | silent sessions |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """`args` are switches of the testbed; `sends`: what its processes get after six sessions.

    `only` names the one process that gets it. `wedges`: how many spans are right.
    """

    args: tuple[str, ...] = ()
    sends: signal.Signals | None = None
    for_s: float | None = None
    only: str | None = None
    wedges: int = 0


FAULTS = {
    "stall_20": Fault(("--stall-transfer-after", "20"), wedges=1),
    "stall_60": Fault(("--stall-transfer-after", "60"), wedges=1),
    "stall_60_split": Fault(("--split", "--stall-transfer-after", "60"), wedges=1),
    "scheduler_stalls": Fault(("--stall-scheduler-after-steps", "200"), wedges=1),
    "scheduler_rests_25s": Fault(
        ("--stall-scheduler-after-steps", "200", "--stall-scheduler-s", "25"), wedges=1
    ),
    "scheduler_rests_5s": Fault(
        ("--stall-scheduler-after-steps", "200", "--stall-scheduler-s", "5"),
    ),
    "slots_leak": Fault(("--leak-slot-every", "3", "--max-running-requests", "16"), wedges=1),
    "dies": Fault(("--die-after-steps", "200")),
    "frozen": Fault(sends=signal.SIGSTOP, wedges=1),
    "frozen_25s": Fault(sends=signal.SIGSTOP, for_s=25.0, wedges=1),
    "decode_frozen": Fault(("--split",), sends=signal.SIGSTOP, only="decode", wedges=1),
    "prefill_frozen": Fault(("--split",), sends=signal.SIGSTOP, only="prefill", wedges=1),
    "killed": Fault(sends=signal.SIGKILL),
    "sound": Fault(),
    "sound_split": Fault(("--split",)),
    "pause_5s": Fault(sends=signal.SIGSTOP, for_s=5.0),
    "slow_transfers": Fault(("--slow-transfer-every", "5", "--slow-transfer-s", "4")),
}

STACK = """
stack: wedge-bench
description: The testbed with a fault for each level.
model: tiny-dsml
may_restart: true
services:
  server:
    controller: process
    command: ["{{python}}", "-m", "runner.testbed", serve, --host, "127.0.0.1", --port, "{{port}}"]
    env: {{OMP_NUM_THREADS: "1"}}
    port: free
    server_info: /server_info
    flush_cache: /flush_cache
    metrics: {{path: /metrics, dialect: sglang}}
    log: process
    ready_within_s: 180
factors:
  fault:
{levels}
"""

CAMPAIGN = """
campaign: {name}
question: Is every wedge seen, and none invented?
stack: wedge-bench
factors:
  fault: [{levels}]
  concurrency: [{concurrency}]
workload:
  sessions: {sessions}
  rounds: 3
  context_tokens: {context_tokens}
  max_tokens: 400
  deadlines: {{connect_s: 10, first_token_s: 20, no_progress_s: 20, session_s: 150}}
  tool_latency: {{median_ms: {tool_ms}, sigma: 1.0}}
schedule: {{blocks: {blocks}, order_seed: 7, restart: every_run}}
corrupt: [leak, malformed, degenerate]
on_wedge: {on_wedge}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One campaign: which faults, under which load. `on_wedge: restart` ends a run at its wedge."""

    name: str
    faults: tuple[str, ...]
    concurrency: str = "12"
    sessions: int = 24
    context_tokens: int = 120
    tool_ms: int = 100
    blocks: int = 1
    on_wedge: str = "restart"


def plans(blocks: int) -> tuple[Plan, ...]:
    return (
        Plan(
            name="stalls",
            faults=(
                "stall_20",
                "stall_60",
                "stall_60_split",
                "scheduler_stalls",
                "slots_leak",
                "frozen",
                "decode_frozen",
            ),
            blocks=blocks,
        ),
        Plan(
            name="ends",
            faults=("frozen_25s", "scheduler_rests_25s", "prefill_frozen", "killed", "dies"),
            blocks=max(1, blocks - 1),
            on_wedge="record",
        ),
        Plan(
            name="sound",
            faults=("sound", "sound_split", "pause_5s", "scheduler_rests_5s", "slow_transfers"),
            blocks=max(1, blocks // 2),
        ),
        Plan(name="load", faults=("stall_60", "frozen"), concurrency="80", sessions=80),
        Plan(name="long", faults=("stall_20", "frozen"), context_tokens=700),
        Plan(name="sound-load", faults=("sound",), concurrency="1, 80", sessions=80),
        Plan(name="sound-long", faults=("sound",), context_tokens=700, blocks=2),
        Plan(name="sound-idle", faults=("sound",), concurrency="2", sessions=6, tool_ms=4000),
    )


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


@dataclass
class Hand(SilentProgress):
    """Freezes or kills the testbed's processes in the middle of a run."""

    store: Store
    acted: set[int] = field(default_factory=set)
    ended: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        self.ended[run.run_id] += 1
        fault = FAULTS[str(run.arm.levels["fault"])]
        if fault.sends is None or self.ended[run.run_id] < ACT_AFTER_SESSIONS:
            return
        if run.run_id not in self.acted:
            self.acted.add(run.run_id)
            self._act(fault)

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        sys.stderr.write(
            f"r-{row.id} {run.arm.name}: {row.state}, {row.wedges} wedges {row.reason or ''}\n"
        )

    def note(self, text: str) -> None:
        sys.stderr.write(f"   {text}\n")

    def _act(self, fault: Fault) -> None:
        assert fault.sends is not None
        pids = self._process_ids(fault.only)
        _signal(pids, fault.sends)
        if fault.for_s is not None:
            timer = threading.Timer(fault.for_s, _signal, (pids, signal.SIGCONT))
            timer.daemon = True
            timer.start()

    def _process_ids(self, only: str | None) -> list[int]:
        with self.store.session() as session:
            newest = select(LaunchRow).order_by(col(LaunchRow.id).desc()).limit(1)
            launch = session.exec(newest).one()
        (process_id,) = launch.process_ids.values()
        tree = _tree(process_id)
        if only is None:
            return tree
        return [pid for pid in tree if f"--disaggregation-mode\0{only}\0" in _command_of(pid)]


def main() -> int:
    """0 where every run has its number of spans."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    chosen = _chosen(plans(blocks), sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        configs = Path(folder)
        _write_stack(configs)
        sys.stdout.write(HEADER)
        is_right = True
        for plan in chosen:
            measured = _run(plan, configs)
            sys.stdout.write(rows(measured))
            sys.stdout.flush()
            is_right = is_right and all(each.right_count for each in measured)
    return 0 if is_right else 1


def _chosen(every: Sequence[Plan], names: Sequence[str]) -> list[Plan]:
    """All, or those named: a campaign, or one fault of it."""
    if not names:
        return list(every)
    by_name = {plan.name: plan for plan in every}
    found: list[Plan] = []
    for name in names:
        campaign, _, fault = name.partition("/")
        plan = by_name[campaign]
        found.append(replace(plan, faults=(fault,)) if fault else plan)
    return found


def rows(measured: Sequence[Measured]) -> str:
    """One line for each arm, as Markdown."""
    by_arm: defaultdict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        by_arm[each.arm].append(each)
    lines: list[str] = []
    for arm, runs in by_arm.items():
        victims = [each.victims() for each in runs]
        errors = [error for each in runs for error in each.start_errors_s()]
        delays = [delay for each in runs for delay in each.delays_s()]
        cells = (
            arm,
            len(runs),
            sum(each.fault.wedges for each in runs),
            sum(len(each.spans) for each in runs),
            sum(paused for paused, _, _ in victims),
            sum(named for _, named, _ in victims),
            sum(invented for _, _, invented in victims),
            f"{min(errors):+.1f} to {max(errors):+.1f} s" if errors else "",
            f"{min(delays):.1f} to {max(delays):.1f}, median {median(delays):.1f} s"
            if delays
            else "",
            f"{sum(each.silent for each in runs)} of {sum(each.sessions for each in runs)}",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _run(plan: Plan, configs: Path) -> list[Measured]:
    (configs / "campaigns" / f"{plan.name}.yaml").write_text(
        CAMPAIGN.format(**_fields(plan), levels=", ".join(plan.faults)), "utf-8"
    )
    opened = open_campaign(plan.name, ConfigFolder(configs))

    async def run(store: Store) -> None:
        holder = holder_of("bench")
        async with heartbeat(store, holder, doing=lambda: plan.name):
            await run_campaign(
                opened.campaign,
                opened.stack,
                store=store,
                worker=holder,
                stop=StopRequest(),
                progress=Hand(store),
                patience=Patience(flush_s=5.0, drain_s=5.0),
            )

    with open_store(f"sqlite:///{configs / plan.name}.db") as store:
        asyncio.run(run(store))
        return _measured(store, plan)


def _measured(store: Store, plan: Plan) -> list[Measured]:
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


def _fields(plan: Plan) -> dict[str, Any]:
    names = ("name", "concurrency", "sessions", "context_tokens", "tool_ms", "blocks", "on_wedge")
    return {name: getattr(plan, name) for name in names}


def _write_stack(configs: Path) -> None:
    (configs / "stacks").mkdir()
    (configs / "campaigns").mkdir()
    levels = "".join(
        f"    {name}:\n      args: [{', '.join(repr(word) for word in fault.args)}]\n"
        if fault.args
        else f"    {name}: {{}}\n"
        for name, fault in FAULTS.items()
    )
    (configs / "stacks" / "wedge-bench.yaml").write_text(STACK.format(levels=levels), "utf-8")


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _tree(root: int) -> list[int]:
    """The process and its descendants."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            waiting += [int(child) for child in children.read_text("ascii").split()]
    return found


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    raise SystemExit(main())
