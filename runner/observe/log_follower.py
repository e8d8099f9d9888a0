"""Reads what was appended to a log file since the last look, whole lines at a time."""

from dataclasses import dataclass
from pathlib import Path

READ_LIMIT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogPiece:
    """`content` ends with a whole line, except the last piece of a log."""

    content: bytes
    lines: tuple[str, ...]


class FileFollower:
    """Remembers how far a file was read. A file that shrank is read again from its start."""

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        self.path = path
        self._offset = path.stat().st_size if from_end and path.exists() else 0
        self._unfinished = b""

    def read_new(self, *, is_last: bool = False) -> LogPiece:
        """New whole lines; with `is_last` an unfinished line at the end counts as one too."""
        content = self._unfinished + self._read_appended()
        cut = len(content) if is_last else content.rfind(b"\n") + 1
        self._unfinished = content[cut:]
        return LogPiece(content[:cut], _lines(content[:cut]))

    def _read_appended(self) -> bytes:
        try:
            with self.path.open("rb") as log:
                size = log.seek(0, 2)
                if size < self._offset:
                    self._offset, self._unfinished = 0, b""
                log.seek(self._offset)
                appended = log.read(READ_LIMIT_BYTES)
        except FileNotFoundError:
            return b""
        self._offset += len(appended)
        return appended


def _lines(content: bytes) -> tuple[str, ...]:
    # Not str.splitlines: a prompt in a log line may hold any of the separators that it splits at.
    parts = content.decode("utf-8", errors="replace").split("\n")
    if not parts[-1]:
        parts.pop()
    return tuple(part.removesuffix("\r") for part in parts)
