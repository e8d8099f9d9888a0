"""Freezes or kills server processes in the middle of a run."""

import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlmodel import col, select

from db.store import Store
from db.tables.runs import LaunchRow, RunRow
from runner.execute.progress import RunOfCampaign, SilentProgress
from runner.sessions.played_session import PlayedSession
from tests.bench.wedge_plans import FAULTS, Fault

ACT_AFTER_SESSIONS = 6


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
