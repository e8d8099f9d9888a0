"""Reads what has come into a log since the last look: of a file, or of a command."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

READ_LIMIT_BYTES = 4 * 1024 * 1024
RESTART_S = 2.0


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


class CommandFollower:
    """Runs a command that prints a log and goes on, such as `journalctl -f`.

    A command that ends is started again after a while, from the moment when it last said something:
    `{since}` in its words stands for that moment (2026-04-09T18:00:12Z), `{since_unix}` for its
    seconds.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        utc_s: Callable[[], float] = time.time,
        restart_s: float = RESTART_S,
    ) -> None:
        self._argv = list(argv)
        self._utc_s = utc_s
        self._restart_s = restart_s
        self._heard_s = utc_s()
        self._started_s = float("-inf")
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def read_new(self) -> bytes:
        if self._is_closed:
            return b""
        if self._process is None and not self._start():
            return b""
        said = self._read()
        if said:
            self._heard_s = self._utc_s()
        elif self._process is not None and self._process.poll() is not None:
            self._end()
        return said

    def close(self) -> None:
        self._end()
        self._is_closed = True

    def _start(self) -> bool:
        if self._utc_s() - self._started_s < self._restart_s:
            return False
        self._started_s = self._utc_s()
        since = datetime.fromtimestamp(self._heard_s, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        words = [
            word.replace("{since}", since).replace("{since_unix}", str(int(self._heard_s)))
            for word in self._argv
        ]
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError:
            return False
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        return True

    def _read(self) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        pieces: list[bytes] = []
        while sum(map(len, pieces)) < READ_LIMIT_BYTES:
            try:
                piece = os.read(self._process.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                break
            if not piece:
                break
            pieces.append(piece)
        return b"".join(pieces)

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
