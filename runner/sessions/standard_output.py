"""Keeps what foreign code writes off standard output, which a script may be reading."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_of_thread = threading.local()


@contextmanager
def kept_off_standard_output() -> Iterator[None]:
    """While open, what this thread writes to `sys.stdout` goes to standard error.

    Other threads go on writing where they did.
    """
    if sys.stdout is not None and not isinstance(sys.stdout, _ByThread):
        sys.stdout = cast(TextIO, _ByThread(sys.stdout))
    _of_thread.is_kept_off = True
    try:
        yield
    finally:
        _of_thread.is_kept_off = False


class _ByThread:
    """Standard output, and standard error for threads that are kept off it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        is_kept_off = getattr(_of_thread, "is_kept_off", False)
        return getattr(sys.stderr if is_kept_off else self._stream, name)
