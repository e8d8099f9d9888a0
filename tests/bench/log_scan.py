"""How fast a large log is scanned, beside grep with the same patterns on the same file.

python -m tests.bench.log_scan [MEBIBYTES]
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from runner.campaign.config_folder import shipped_event_files
from runner.observe.event_catalogue import EventCatalogue, load_catalogue
from runner.observe.log_scan import scan_log

DEFAULT_MIB = 1024
LIMIT = 3.0
ROUNDS = 3
_EVENTS_IN = 0.001
_BLOCK_LINES = 200_000


def main() -> int:
    """0 where the scan takes at most three times as long as grep, in the best of three rounds."""
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_MIB
    catalogue = load_catalogue(shipped_event_files())
    with tempfile.TemporaryDirectory() as folder:
        log, patterns = Path(folder) / "server.log", Path(folder) / "patterns"
        write_log(log, mebibytes=mebibytes)
        patterns.write_text("\n".join(posix_patterns(catalogue)) + "\n", "utf-8")
        rounds = [_round(log, patterns, catalogue) for _ in range(ROUNDS)]
    size_mb = mebibytes * 1.048576
    for ours_s, grep_s in rounds:
        sys.stdout.write(
            f"scan {ours_s:6.2f} s {size_mb / ours_s:6.0f} MB/s   "
            f"grep {grep_s:6.2f} s {size_mb / grep_s:6.0f} MB/s   ratio {ours_s / grep_s:.2f}\n"
        )
    return 0 if min(ours_s / grep_s for ours_s, grep_s in rounds) <= LIMIT else 1


def _round(log: Path, patterns: Path, catalogue: EventCatalogue) -> tuple[float, float]:
    began_s = time.perf_counter()
    with log.open("rb") as content:
        reading = scan_log(content, catalogue, own=None, year=2026)
    ours_s = time.perf_counter() - began_s
    assert reading.verdict == "wedge"
    began_s = time.perf_counter()
    subprocess.run(
        ["grep", "-cE", "-f", str(patterns), str(log)],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,  # grep stops at its first match where nobody reads what it counts
        check=True,
    )
    return ours_s, time.perf_counter() - began_s


def posix_patterns(catalogue: EventCatalogue) -> Iterator[str]:
    """The catalogue's patterns as grep -E reads them: without names and lazy stars."""
    for entry in catalogue.patterns:
        text = re.sub(r"\(\?P<\w+>", "(", entry.text).replace("(?:", "(")
        text = re.sub(r"([*+?])\?", r"\1", text)
        text = re.sub(r"\[(\^?)([^\]]*)\]", _posix_set, text)
        yield text.replace(r"\d", "[0-9]").replace(r"[^\n]", ".")


def _posix_set(found: re.Match[str]) -> str:
    inner = found[2].replace(r"\w", "A-Za-z0-9_").replace(r"\d", "0-9").replace(r"\n", "")
    if not inner:
        return "[^]]" if found[2] == "\\" else "."
    return f"[{found[1]}{inner}]"


def write_log(path: Path, *, mebibytes: int) -> None:
    """Status lines, access lines and, one in a thousand, an event; a block of them repeated."""
    dice = random.Random(7)
    block = "".join(_line(dice, number) for number in range(_BLOCK_LINES)).encode()
    with path.open("wb") as log:
        left = mebibytes * 1024 * 1024
        while left > 0:
            log.write(block[:left])
            left -= len(block)


def _line(dice: random.Random, number: int) -> str:
    at = f"2026-08-22 09:{number // 60 % 60:02d}:{number % 60:02d}"
    kind = dice.random()
    if kind < _EVENTS_IN:
        rid, room = f"{dice.getrandbits(64):x}", dice.getrandbits(50)
        return (
            f"[{at} TP6] Decode transfer failed for request rank=6 decode_req.req.rid='{rid}' "
            f"decode_req.req.bootstrap_room={room} with exception KVTransferError("
            f"bootstrap_room={room}): Request {room} timed out after 300.0s in "
            "KVPoll.WaitingForInput\n"
        )
    if kind < 0.45:
        return (
            f"[{at} DP{number % 4} TP0] Decode batch, #running-req: {dice.randint(1, 60)}, "
            f"#token: {dice.randint(1000, 99999)}, token usage: 0.{dice.randint(10, 99)}, cuda "
            f"graph: True, gen throughput (token/s): {dice.random() * 2000:.2f}, #queue-req: 0\n"
        )
    if kind < 0.6:
        return (
            f"[{at} DP{number % 4} TP0] Prefill batch, #new-seq: 1, #new-token: "
            f"{dice.randint(1, 9999)}, #cached-token: 0, token usage: 0.00, #running-req: 3, "
            "#queue-req: 0, input throughput (token/s): 410.10\n"
        )
    if kind < 0.9:
        port = dice.randint(1024, 65000)
        return f'[{at}] INFO:     10.0.0.7:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    return (
        f"(APIServer pid=1) INFO 07-10 11:20:00 [async_llm.py:269] Added request "
        f"chatcmpl-{dice.getrandbits(64):x}.\n"
    )


if __name__ == "__main__":
    raise SystemExit(main())
