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
_KEPT_BYTES = 4096  # more than a cursor with its name takes


class LastCursor:
    """The cursor of the last entry that came whole, of journald's JSON in pieces of any size.

    An entry may be without end, and its cursor may stand anywhere in it: kept are its end and the
    cursor that was seen in it.
    """

    def __init__(self) -> None:
        self.cursor: str | None = None
        self._end = b""
        self._of_open_entry: str | None = None

    @property
    def held_bytes(self) -> int:
        return len(self._end)

    def feed(self, said: bytes) -> None:
        whole, newline, rest = (self._end + said).rpartition(b"\n")
        if newline:
            self.cursor = _last_in(whole) or self._of_open_entry or self.cursor
            self._of_open_entry = None
        self._of_open_entry = _last_in(rest) or self._of_open_entry
        self._end = rest[-_KEPT_BYTES:]

    def drop_open_entry(self) -> None:
        """What comes next begins an entry."""
        self._end, self._of_open_entry = b"", None


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
        self._last = LastCursor()
        self._has_sought = False

    def seek_end(self, ask: Callable[[Sequence[str]], str] | None = None) -> None:
        """What is there now is not read. `ask` runs a command, and waits some seconds at most."""
        self._has_sought = True
        said = (ask or _said_by)(self._command("-n", "1", "--no-pager", "-q"))
        self._last.feed(said.encode() + b"\n")

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        if not self._has_sought and not self._is_closed:
            self.seek_end()
        said = super().read_new(limit_bytes)
        self._last.feed(said)
        return said

    def _words(self) -> list[str]:
        self._last.drop_open_entry()
        cursor = self._last.cursor
        place = (
            f"--after-cursor={cursor}" if cursor is not None else f"--since=@{self._began_s:.3f}"
        )
        return self._command("-f", "--no-tail", place)

    def _command(self, *options: str) -> list[str]:
        words = [*self._journalctl, "-u", self._unit, "-o", "json", *options]
        return [*self._ssh, shlex.join(words)] if self._ssh else words


def _last_in(text: bytes) -> str | None:
    found = _CURSOR.findall(text)
    return found[-1].decode("ascii", errors="replace") if found else None


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
