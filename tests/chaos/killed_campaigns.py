"""A small campaign that is killed at random instants, and what must hold of it afterwards."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.end_to_end.processes import (
    ROOT,
    ask_store,
    decisive_environment,
    number,
    wait_for,
)
from tests.fakes.oracle_configs import write_oracle_configs

SESSIONS = 12
BLOCKS = 2
LONGEST_WAIT_S = 6.0
"""About as long as the runs of the campaign take from their beginning."""

PATIENCE_S = 300.0

_BEGUN = "SELECT count(*) FROM run WHERE state <> 'planned'"


@dataclass(slots=True)
class KilledCampaign:
    """`broken` are the promises that did not hold, in words; `kills` says when it was killed."""

    folder: Path
    random: Random
    kills: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def play(self) -> None:
        """Kills it one to three times, now and then with a second start beside it, and ends it."""
        write_oracle_configs(
            self.folder,
            levels=["fp8"],
            sessions=SESSIONS,
            blocks=BLOCKS,
            switches=["--answer-delay-s", "0.1"],
        )
        starts = 2 if self.random.random() < 0.3 else 1
        for _ in range(self.random.choice([1, 1, 2, 3])):
            self._kill_once(starts)
        self._complete()

    def _kill_once(self, starts: int) -> None:
        ended_before = _sessions_by_run(self.folder)
        begun_before = number(self.folder, _BEGUN)
        processes = [self._start() for _ in range(starts)]
        wait_for(
            lambda: number(self.folder, _BEGUN) > begun_before or _all_ended(processes),
            what="a run that has begun",
            patience_s=PATIENCE_S,
        )
        after_s = self.random.uniform(0, LONGEST_WAIT_S)
        time.sleep(after_s)
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        ended = _sessions_by_run(self.folder)
        lost = [run for run, count in ended_before.items() if ended.get(run, 0) < count]
        self.broken += [f"r-{run} has lost sessions" for run in lost]
        states = [str(state) for (state,) in ask_store(self.folder, "SELECT state FROM run")]
        self.kills.append(f"{after_s:.2f} s ({'/'.join(states)}, {sum(ended.values())} ended)")

    def _complete(self) -> None:
        ended_before = _sessions_by_run(self.folder)
        status = self._start().wait(timeout=2 * PATIENCE_S)
        if status != 0:
            self.broken.append(f"the last start ended with {status}")
        ended = _sessions_by_run(self.folder)
        if any(ended.get(run, 0) != count for run, count in ended_before.items()):
            self.broken.append("the last start has changed what was recorded before")
        self.broken += self._broken_counts(ended) + self._left_behind()

    def _broken_counts(self, ended: dict[int, int]) -> list[str]:
        runs = ask_store(self.folder, "SELECT id, block, state, n_ended FROM run")
        broken = [
            f"r-{run} counts {counted} sessions and has {ended.get(int(str(run)), 0)}"
            for run, _, _, counted in runs
            if counted != ended.get(int(str(run)), 0)
        ]
        whole = sorted(
            int(str(block)) for _, block, state, n in runs if state == "done" and n == SESSIONS
        )
        if whole != list(range(1, BLOCKS + 1)):
            broken.append(f"whole runs of the blocks {whole}")
        open_states = {str(state) for _, _, state, _ in runs} - {"done", "stopped", "failed"}
        return broken + [f"a run is still {state}" for state in sorted(open_states)]

    def _left_behind(self) -> list[str]:
        broken = [f"process {pid} was left" for pid in _holders_of(self.folder)]
        if number(self.folder, "SELECT count(*) FROM stack_lease"):
            broken.append("the stack is still leased")
        if number(self.folder, "SELECT count(*) FROM launch WHERE ended_at_us IS NULL"):
            broken.append("a launch has no end")
        if ask_store(self.folder, "PRAGMA integrity_check") != [("ok",)]:
            broken.append("the store is damaged")
        return broken

    def _start(self) -> subprocess.Popen[bytes]:
        with (self.folder / "printed.txt").open("ab") as printed:
            return subprocess.Popen(
                [sys.executable, "-m", "runner.cli", "run", "oracle-test"],
                cwd=ROOT,
                env=decisive_environment(self.folder),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def _all_ended(processes: list[subprocess.Popen[bytes]]) -> bool:
    return all(process.poll() is not None for process in processes)


def _sessions_by_run(folder: Path) -> dict[int, int]:
    rows = ask_store(folder, "SELECT run_id, count(*) FROM session GROUP BY run_id")
    return {int(str(run)): int(str(count)) for run, count in rows}


def _holders_of(folder: Path) -> Iterator[int]:
    """Processes that still have a file below the folder open: servers write their logs there."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and any(
            target.startswith(str(folder)) for target in _open_files(entry)
        ):
            yield int(entry.name)


def _open_files(process: Path) -> Iterator[str]:
    try:
        handles = list((process / "fd").iterdir())
        for handle in handles:
            yield str(handle.readlink())
    except OSError:
        return
