"""Which processes belong to a service that was started, dead leader or not, and how all are ended.

A service is started in a session of its own, so that whatever it starts can be told by that session
as long as one of them lives: the kernel gives the number of a session to nobody else meanwhile.
Without /proc only the leader's group can be signalled, and only by its own parent.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

STOP_GRACE_S = 5.0
_POLL_S = 0.02
_ENDED_STATES = frozenset({"Z", "X", "x"})  # proc(5): zombie and dead


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """Names one process for good: a pid is reused, a pid with its start time is not."""

    pid: int
    start_ticks: int

    def to_json(self) -> dict[str, int]:
        return {"pid": self.pid, "start_ticks": self.start_ticks}

    @classmethod
    def from_json(cls, value: Mapping[str, int]) -> "ProcessMark":
        return cls(pid=int(value["pid"]), start_ticks=int(value["start_ticks"]))


class _Stat(NamedTuple):
    pid: int
    state: str
    group: int
    session: int
    start_ticks: int


def mark_of(pid: int) -> ProcessMark | None:
    """The mark of a process of this machine, or None where there is none (or no /proc)."""
    stat = _stat_of(pid)
    return None if stat is None else ProcessMark(pid, stat.start_ticks)


def members_of(leader: ProcessMark) -> tuple[int, ...]:
    """The pids of the leader's session and group that still run, whether or not the leader does.

    None where the leader's pid has gone to a stranger: its session had ended before.
    """
    now = _stat_of(leader.pid)
    if leader.start_ticks == 0 or (now is not None and now.start_ticks != leader.start_ticks):
        return ()
    return tuple(
        stat.pid
        for stat in _all_stats()
        if leader.pid in (stat.session, stat.group)
        and stat.state not in _ENDED_STATES
        and stat.start_ticks >= leader.start_ticks
    )


def end_members(leader: ProcessMark, *, grace_s: float = STOP_GRACE_S) -> bool:
    """Asks all to end, waits `grace_s`, then kills; True where one was still there.

    One that hangs inside a driver does not die even of that; nobody waits longer for it than
    `grace_s` once more.
    """
    if not members_of(leader):
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(leader, number)
        deadline_s = time.monotonic() + grace_s
        while members_of(leader) and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
            if number is signal.SIGKILL:
                _signal(leader, number)  # one may have been born meanwhile
    return True


def signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _signal(leader: ProcessMark, number: signal.Signals) -> None:
    members = members_of(leader)
    if members:
        signal_group(leader.pid, number)
    for pid in members:
        stat = _stat_of(pid)
        if stat is not None and stat.group != leader.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _all_stats() -> Iterator[_Stat]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            stat = _stat_of(int(entry.name))
            if stat is not None:
                yield stat


def _stat_of(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name, in parentheses, may hold blanks and parentheses: fields count from its end.
    fields = text.rpartition(")")[2].split()
    return _Stat(pid, fields[0], int(fields[2]), int(fields[3]), int(fields[19]))
