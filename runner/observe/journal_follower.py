"""Follows the journal of a unit of systemd, and goes on by its cursor where a connection broke."""

import re
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence

from runner.observe.log_follower import READ_LIMIT_BYTES, RESTART_S, CommandFollower

SEEK_DEADLINE_S = 10.0
# systemd.journal-fields(7): the opaque position of an entry.
_CURSOR = re.compile(rb'"__CURSOR"\s*:\s*"([^"]+)"')


class JournalFollower(CommandFollower):
    """Reads entries as journald's JSON, from the moment of its first reading or of `seek_end` on.

    `ssh` are the words before a command that runs elsewhere. It goes by the cursor of the last
    entry, and not by clocks, which differ; one that is started again loses none and reads none
    twice.
    """

    def __init__(
        self,
        unit: str,
        *,
        journalctl: Sequence[str] = ("journalctl",),
        ssh: Sequence[str] = (),
        utc_s: Callable[[], float] = time.time,
        restart_s: float = RESTART_S,
    ) -> None:
        super().__init__([*ssh, *journalctl], utc_s=utc_s, restart_s=restart_s)
        self._unit = unit
        self._journalctl = tuple(journalctl)
        self._ssh = tuple(ssh)
        self._began_s = utc_s()
        self._line = b""
        self._cursor: str | None = None
        self._has_sought = False

    def seek_end(self, ask: Callable[[Sequence[str]], str] | None = None) -> None:
        """What is there now is not read. `ask` runs a command, and waits some seconds at most."""
        self._has_sought = True
        said = (ask or _said_by)(self._command("-n", "1", "--no-pager", "-q"))
        found = _CURSOR.findall(said.encode())
        if found:
            self._cursor = found[-1].decode("ascii", errors="replace")

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        if not self._has_sought and not self._is_closed:
            self.seek_end()
        said = super().read_new(limit_bytes)
        if said:
            self._remember(said)
        return said

    def _remember(self, said: bytes) -> None:
        """The cursor of the last entry that came whole."""
        whole, newline, self._line = (self._line + said).rpartition(b"\n")
        found = _CURSOR.findall(whole) if newline else []
        if found:
            self._cursor = found[-1].decode("ascii", errors="replace")

    def _words(self) -> list[str]:
        self._line = b""
        place = (
            f"--after-cursor={self._cursor}"
            if self._cursor is not None
            else f"--since=@{self._began_s:.3f}"
        )
        return self._command("-f", "--no-tail", place)

    def _command(self, *options: str) -> list[str]:
        words = [*self._journalctl, "-u", self._unit, "-o", "json", *options]
        return [*self._ssh, shlex.join(words)] if self._ssh else words


def _said_by(words: Sequence[str]) -> str:
    """Nothing where it cannot be run: the follower meets the same, and says so."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SEEK_DEADLINE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", errors="replace")
