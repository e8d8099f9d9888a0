"""Follows the journal of a unit of systemd, and goes on by its cursor where a connection broke."""

import re
import shlex
import time
from collections.abc import Callable, Sequence

from runner.observe.log_follower import READ_LIMIT_BYTES, RESTART_S, CommandFollower

# systemd.journal-fields(7): the opaque position of an entry.
_CURSOR = re.compile(rb'"__CURSOR"\s*:\s*"([^"]+)"')


class JournalFollower(CommandFollower):
    """Reads entries as journald's JSON, from the moment of its making on.

    `ssh` are the words before a command that runs elsewhere. A follower that is started again goes
    on after the last entry that it read, so that none is lost or read twice.
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

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
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
            else f"--since=@{int(self._began_s)}"
        )
        words = [*self._journalctl, "-u", self._unit, "-o", "json", "-f", "--no-tail", place]
        return [*self._ssh, shlex.join(words)] if self._ssh else words
