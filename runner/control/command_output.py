"""Talks with a child process through its pipes, and keeps only so much of what it writes."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_PIECE_BYTES = 65_536
_WRITTEN_AT_ONCE_BYTES = 512  # POSIX's least PIPE_BUF: a pipe that is ready takes it whole


@dataclass(slots=True)
class KeptOutput:
    """The first bytes of one stream; what came beyond them is counted only."""

    most_bytes: int
    kept: bytearray = field(default_factory=bytearray)
    dropped_bytes: int = 0

    def add(self, piece: bytes) -> None:
        room = self.most_bytes - len(self.kept)
        self.kept += piece[:room]
        self.dropped_bytes += max(0, len(piece) - room)

    @property
    def text(self) -> str:
        """Broken characters are replaced; where bytes are missing it says how many."""
        written = self.kept.decode("utf-8", errors="replace")
        if not self.dropped_bytes:
            return written
        return f"{written}\n[{self.dropped_bytes} more bytes were not kept]\n"


def exchange(
    child: "subprocess.Popen[bytes]",
    stdin: bytes,
    *,
    deadline_s: float,
    most_bytes: int,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[KeptOutput, KeptOutput]:
    """Tells the child `stdin` and hears it to its end: its standard output and its errors.

    Raises TimeoutExpired; whatever it wrote, no more than `most_bytes` a stream are held.
    """
    ends_at = clock() + deadline_s
    outputs = KeptOutput(most_bytes), KeptOutput(most_bytes)
    untold = memoryview(stdin)
    pipes = {pipe.fileno(): pipe for pipe in (child.stdin, child.stdout, child.stderr) if pipe}
    with selectors.DefaultSelector() as selector:
        for pipe, output in zip((child.stdout, child.stderr), outputs, strict=True):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ, output)
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            selector.register(child.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            for key, _ in selector.select(_left_s(child, ends_at, deadline_s, clock)):
                if isinstance(key.data, KeptOutput):
                    piece = os.read(key.fd, _PIECE_BYTES)
                    key.data.add(piece)
                    is_over = not piece
                else:
                    untold = untold[_told(key.fd, untold) :]
                    is_over = not untold
                if is_over:
                    selector.unregister(key.fileobj)
                    pipes[key.fd].close()
    child.wait(timeout=_left_s(child, ends_at, deadline_s, clock))
    return outputs


def _told(pipe_fd: int, untold: memoryview) -> int:
    """How much of it went out; all of it where nobody listens any more."""
    try:
        return os.write(pipe_fd, untold[:_WRITTEN_AT_ONCE_BYTES]) if untold else 0
    except BrokenPipeError:
        return len(untold)
    except BlockingIOError:
        return 0


def _left_s(
    child: "subprocess.Popen[bytes]", ends_at: float, deadline_s: float, clock: Callable[[], float]
) -> float:
    left_s = ends_at - clock()
    if left_s <= 0:
        raise subprocess.TimeoutExpired(child.args, deadline_s)
    return left_s
