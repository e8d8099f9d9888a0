"""Reads what has come into a log since the last look: of a file, or of a command."""

import contextlib
import fcntl
import os
import signal
import stat
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Protocol

READ_LIMIT_BYTES = 4 * 1024 * 1024
RESTART_S = 2.0
_ANCHOR_BYTES = 256
_MOST_ROTATIONS = 50
_END_DEADLINE_S = 5.0


class LogSource(Protocol):
    """Where a log comes from. One thread at a time may call it."""

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """What has come since the last call, at most so much; never waits for more to come."""
        ...

    def behind_bytes(self) -> int:
        """How much is known to be there and has not been read."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why nothing can be read of it now, in a few words."""
        ...

    def close(self) -> None:
        """Gives back what it holds; nothing is read any more."""
        ...


class FileFollower:
    """Remembers how far a file was read.

    A file that was renamed is read to its end, then those that took its name, in turn. A file that
    shrank, or that no longer holds what was read last, is read again from its start. A line that
    has no end there is ended, so that it does not swallow the first one of what follows.
    """

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        self.path = path
        self.trouble: str | None = None
        self._file: BinaryIO | None = None
        self._offset = 0
        self._anchor = b""
        self._is_closed = False
        self._is_anew = False
        self._is_mid_line = False
        if from_end and self._open(path):
            self._go_to_end()

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        if self._is_closed or (self._file is None and not self._open(self.path)):
            return b""
        try:
            said = self._read_on(limit_bytes)
        except OSError as error:  # a disk that fails, a share that is gone
            self._release()
            self.trouble = f"cannot read {self.path}: {error.strerror}"
            return b""
        if not said:
            return said
        is_cut, self._is_anew = self._is_anew and self._is_mid_line, False
        self._is_mid_line = not said.endswith(b"\n")
        return b"\n" + said if is_cut else said

    def _read_on(self, limit_bytes: int) -> bytes:
        appended = self._read_appended(limit_bytes)
        if not appended and (successor := self._successor()) is not None:
            self._release()
            return self._read_appended(limit_bytes) if self._open(successor) else b""
        return appended

    def behind_bytes(self) -> int:
        """Of the file that is read now; those that took its name since are not counted."""
        if self._file is None:
            return 0
        try:
            return max(0, os.fstat(self._file.fileno()).st_size - self._offset)
        except OSError:
            return 0

    def close(self) -> None:
        self._release()
        self._is_closed = True

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._offset, self._anchor, self._is_anew = 0, b"", True

    def _open(self, path: Path) -> bool:
        try:
            # A named pipe would block until somebody writes to it.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self.trouble = f"cannot read {path}: {error.strerror}"
            return False
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            self.trouble = f"{path} is no regular file"
            return False
        self._file, self.trouble = os.fdopen(descriptor, "rb"), None
        return True

    def _go_to_end(self) -> None:
        assert self._file is not None
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, end - _ANCHOR_BYTES))
        self._anchor = self._file.read(end - self._file.tell())
        self._offset = end

    def _read_appended(self, limit_bytes: int) -> bytes:
        assert self._file is not None
        if os.fstat(self._file.fileno()).st_size < self._offset or not self._is_as_before():
            self._begin_anew()
        self._file.seek(self._offset)
        appended = self._file.read(limit_bytes)
        self._offset += len(appended)
        self._anchor = (self._anchor + appended[-_ANCHOR_BYTES:])[-_ANCHOR_BYTES:]
        return appended

    def _is_as_before(self) -> bool:
        """Whether the bytes before the offset are those that were read there.

        A file may be truncated and grow beyond the offset again between two looks.
        """
        assert self._file is not None
        self._file.seek(self._offset - len(self._anchor))
        return self._file.read(len(self._anchor)) == self._anchor

    def _successor(self) -> Path | None:
        """The file that followed the one that is read, once anything stands in it.

        Until then the server may still write to the renamed one. Rotation renames `server.log` to
        `server.log.1` and that one to `server.log.2`: several may have come between two looks.
        """
        assert self._file is not None
        mine = os.fstat(self._file.fileno())
        newest = _stat_of(self.path)
        if newest is None or _is_same_file(newest, mine):
            return None
        followers = [self.path, *self._rotated()]
        for newer, older in pairwise(followers):
            found = _stat_of(older)
            if found is not None and _is_same_file(found, mine) and newer != self.path:
                return newer
        return self.path if newest.st_size else None

    def _rotated(self) -> Iterator[Path]:
        for number in range(1, _MOST_ROTATIONS):
            older = self.path.with_name(f"{self.path.name}.{number}")
            if not older.exists():
                return
            yield older


def _stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _is_same_file(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


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
        monotonic_s: Callable[[], float] = time.monotonic,
        restart_s: float = RESTART_S,
    ) -> None:
        self._argv = list(argv)
        self._utc_s = utc_s
        self._monotonic_s = monotonic_s
        self._restart_s = restart_s
        self._heard_s = utc_s()
        self._started_s = float("-inf")
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._is_mid_line = False
        self._is_fresh = False
        self.trouble: str | None = None

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        if self._is_closed:
            return b""
        if self._process is None and not self._start():
            return b""
        said = self._read(limit_bytes)
        if said:
            self._heard_s = self._utc_s()
            if self._is_fresh and self._is_mid_line:
                # What broke off with the last command must not swallow the first line of this one.
                said = b"\n" + said
            self._is_fresh, self._is_mid_line = False, not said.endswith(b"\n")
        elif self._process is not None and (status := self._process.poll()) is not None:
            self.trouble = f"{self._argv[0]} ended with {status}" if status else None
            self._end()
        return said

    def behind_bytes(self) -> int:
        """What waits in the pipe; what the command has not written yet is not known."""
        if self._process is None or self._process.stdout is None:
            return 0
        waiting = fcntl.ioctl(self._process.stdout, termios.FIONREAD, struct.pack("i", 0))
        return int(struct.unpack("i", waiting)[0])

    def close(self) -> None:
        self._end()
        self._is_closed = True

    def _words(self) -> list[str]:
        since = datetime.fromtimestamp(self._heard_s, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return [
            word.replace("{since}", since).replace("{since_unix}", str(int(self._heard_s)))
            for word in self._argv
        ]

    def _start(self) -> bool:
        if self._monotonic_s() - self._started_s < self._restart_s:
            return False
        self._started_s = self._monotonic_s()
        words = self._words()
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self.trouble = f"cannot start {words[0]}: {error.strerror}"
            return False
        self.trouble, self._is_fresh = None, True
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        return True

    def _read(self, limit_bytes: int) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        said = bytearray()
        while len(said) < limit_bytes:
            try:
                piece = os.read(
                    self._process.stdout.fileno(), min(1 << 16, limit_bytes - len(said))
                )
            except BlockingIOError:
                break
            if not piece:
                break
            said += piece
        return bytes(said)

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_DEADLINE_S)
        if process.stdout is not None:
            process.stdout.close()
