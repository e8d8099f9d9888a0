"""Reads what was appended to a log since the last look, over rotation and truncation."""

import os
from pathlib import Path
from typing import BinaryIO, Protocol

READ_LIMIT_BYTES = 4 * 1024 * 1024


class LogSource(Protocol):
    """Where a log comes from."""

    def read_new(self) -> bytes:
        """What has come since the last call, at most a few mebibytes; never waits."""
        ...

    def close(self) -> None:
        """Gives back what it holds; nothing is read any more."""
        ...


class FileFollower:
    """Remembers how far a file was read.

    A file that was renamed is read to its end before the one that took its name. A file that
    shrank is read again from its start.
    """

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._offset = 0
        self._is_closed = False
        if from_end and self._open():
            assert self._file is not None
            self._offset = self._file.seek(0, os.SEEK_END)

    def read_new(self) -> bytes:
        if self._is_closed or (self._file is None and not self._open()):
            return b""
        appended = self._read_appended()
        if not appended and self._was_replaced():
            self._release()
            return self.read_new()
        return appended

    def close(self) -> None:
        """Nothing is read any more."""
        self._release()
        self._is_closed = True

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._offset = None, 0

    def _open(self) -> bool:
        try:
            self._file = self.path.open("rb")
        except OSError:
            return False
        return True

    def _read_appended(self) -> bytes:
        assert self._file is not None
        if os.fstat(self._file.fileno()).st_size < self._offset:
            self._offset = 0
        self._file.seek(self._offset)
        appended = self._file.read(READ_LIMIT_BYTES)
        self._offset += len(appended)
        return appended

    def _was_replaced(self) -> bool:
        assert self._file is not None
        try:
            now = self.path.stat()
        except OSError:
            return False
        mine = os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino)
