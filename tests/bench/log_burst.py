"""How long the event loop is held up while a service writes 100 MB into its log in a second.

python -m tests.bench.log_burst [MEGABYTES]

The log is written by a process of its own, and read as it is in a run. What the machine itself kept
the loop waiting for is taken out, as it is from a run's own health (runner/sessions/client_health).
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
from sqlmodel import SQLModel

from db.clock import SystemClock
from db.tables.observations import LogEventRow
from db.tables.sessions import RawRow
from runner.campaign.config_folder import shipped_event_files
from runner.event_loop import run_on_loop
from runner.observe.event_catalogue import EventCatalogue, load_catalogue
from runner.observe.log_follower import FileFollower
from runner.observe.run_observer import WATCHED_LOOK_S, ObservedService, RunObserver
from runner.sessions.client_health import LAG_LIMIT_S, ClientHealth, HealthWatch

DEFAULT_MB = 100
WATCHED_S = 20.0
_STATUS = (
    b"[2026-08-22 09:15:02 TP0] Decode batch, #running-req: 21, #token: 1450112, token usage: "
    b"0.63, cuda graph: True, gen throughput (token/s): 812.44, #queue-req: 0\n"
)
_ABORT = (
    "[2026-08-22 09:15:02 TP0] Prefill bootstrap failed for request rank=0 req.rid='{n}' "
    "req.bootstrap_room={n} with exception KVTransferError(bootstrap_room={n}): "
    "Aborted by AbortReq.\n"
)


@dataclass
class Kept:
    """Counts what it is handed, as the recorder would store it."""

    bytes_kept: int = 0
    events: int = 0

    def take(self, rows: Sequence[SQLModel]) -> None:
        for row in rows:
            if isinstance(row, RawRow):
                self.bytes_kept += row.size_bytes
            elif isinstance(row, LogEventRow):
                self.events += 1


class NoLoad:
    most_in_flight = 0


def main() -> int:
    """0 where 99 % of the loop's naps were late by less than 50 ms of our own making."""
    if sys.argv[1:2] == ["--write"]:
        return _write(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_MB
    catalogue = load_catalogue(shipped_event_files())
    worst_s = 0.0
    for kind in KINDS:
        health, kept, lag = run_on_loop(_measure(catalogue, kind, megabytes * 1_000_000))
        worst_s = max(worst_s, health.own_lag_p99_s)
        sys.stdout.write(_line(kind, health, kept, lag))
    return 0 if worst_s < LAG_LIMIT_S else 1


def _line(kind: str, health: ClientHealth, kept: Kept, lag_bytes: int) -> str:
    late = "/".join(f"{each * 1e3:.1f}" for each in (health.lag_p50_s, health.lag_p99_s))
    return (
        f"{kind:26} late by p50/p99 {late} ms, of our making {health.own_lag_p99_s * 1e3:.1f} ms; "
        f"{health.cpu_share:.0%} of a core; kept {kept.bytes_kept / 1e6:.1f} MB and {kept.events} "
        f"events in {WATCHED_S:.0f} s; behind by {lag_bytes / 1e6:.1f} MB at most\n"
    )


def _in_docker(line: bytes) -> bytes:
    wrapped = {"log": line.decode(), "stream": "stderr", "time": "2026-08-22T09:15:02.1234Z"}
    return json.dumps(wrapped).encode() + b"\n"


KINDS: dict[str, Callable[[int], bytes]] = {
    "nothing": lambda number: b"",
    "status lines": lambda number: _STATUS,
    "events": lambda number: _ABORT.format(n=number).encode(),
    "status lines in docker's": lambda number: _in_docker(_STATUS),
}


async def _measure(
    catalogue: EventCatalogue, kind: str, size_bytes: int
) -> tuple[ClientHealth, Kept, int]:
    """The loop's health, what was kept, and how many bytes reading was behind at most."""
    kept = Kept()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        path.touch()
        async with httpx.AsyncClient() as http:
            observer = RunObserver(
                run_id=1,
                http=http,
                sink=kept.take,
                clock=SystemClock(),
                services=[ObservedService("server", None, FileFollower(path))],
                catalogue=catalogue,
            )
            writer = _Writer(path, kind, size_bytes)
            watch = HealthWatch(NoLoad())
            async with watch.watching():
                writer.begin()
                until_s = time.monotonic() + WATCHED_S
                while time.monotonic() < until_s:
                    await observer.look(patience_s=WATCHED_LOOK_S)
                    await asyncio.sleep(observer.period_s)
            writer.end()
            observer.close()
    return watch.health(), kept, observer.lags()["server"].most


class _Writer:
    """A process that has everything ready and writes it when it is told to."""

    def __init__(self, path: Path, kind: str, size_bytes: int) -> None:
        command = [sys.executable, "-m", "tests.bench.log_burst", "--write"]
        self._process = subprocess.Popen(
            [*command, str(path), kind, str(size_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=10)


def _write(path: Path, kind: str, size_bytes: int) -> int:
    """In ten pieces within about a second."""
    block = b"".join(KINDS[kind](number) for number in range(20_000))
    piece = block * max(1, size_bytes // max(1, len(block)) // 10) if block else b""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    with path.open("ab", buffering=0) as log:
        for _ in range(10):
            log.write(piece)
            time.sleep(0.05)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
