"""Runs one process for a stand-in of systemd or docker and keeps its output as journald would.

    python supervised.py FOLDER NAME -- WORDS...

FOLDER/NAME.pid has the pid of the process while it runs, FOLDER/NAME.status how it ended, and
FOLDER/NAME.journal a line of JSON for every line that it wrote.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE_S = 120.0


def main(folder: Path, name: str, words: Sequence[str]) -> None:
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    (folder / f"{name}.pid").write_text(str(child.pid), "ascii")
    assert child.stdout is not None
    with (folder / f"{name}.journal").open("a", encoding="utf-8") as journal:
        for line in child.stdout:
            entry = {
                "__CURSOR": f"s=fake;i={journal.tell()}",
                "__REALTIME_TIMESTAMP": str(time.time_ns() // 1000),
                "_SYSTEMD_UNIT": name,
                "MESSAGE": line.decode("utf-8", errors="replace").rstrip("\n"),
            }
            journal.write(json.dumps(entry) + "\n")
            journal.flush()
    (folder / f"{name}.status").write_text(str(child.wait()), "ascii")
    (folder / f"{name}.pid").unlink()


def start(folder: Path, name: str, words: Sequence[str], env: Mapping[str, str]) -> None:
    """Returns once the process has been started."""
    # What an earlier process ended with says nothing of this one.
    (folder / f"{name}.status").unlink(missing_ok=True)
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    os.posix_spawn(
        sys.executable,
        [sys.executable, __file__, str(folder), name, "--", *words],
        {**os.environ, **env},
        file_actions=nowhere,
        setsid=True,
    )
    _wait(lambda: pid_of(folder, name) or (folder / f"{name}.status").exists())


def stop(folder: Path, name: str) -> None:
    """Returns once the process and its supervisor are gone."""
    pid = pid_of(folder, name)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 15)
        _wait(lambda: not pid_of(folder, name))


def pid_of(folder: Path, name: str) -> int:
    """0 where it does not run."""
    try:
        return int((folder / f"{name}.pid").read_text("ascii") or 0)
    except FileNotFoundError:
        return 0


def status_of(folder: Path, name: str) -> int:
    try:
        return int((folder / f"{name}.status").read_text("ascii") or 0)
    except FileNotFoundError:
        return 0


def is_heard() -> bool:
    """Whether anybody reads our output still: a follower of a log is not to outlive its reader."""
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return not poll.poll(0)


def _wait(holds: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline_s:
            sys.exit("the process did not do as it was told")
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[4:])
