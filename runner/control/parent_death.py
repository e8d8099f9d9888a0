"""Lets a child end with its parent, however that ends; where the kernel offers it (Linux)."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # prctl(2)


def ending_with_parent(
    by: signal.Signals = signal.SIGTERM,
) -> Callable[[], None] | None:
    """For `preexec_fn`: the child is sent this signal once the thread that starts it is gone.

    Call it, and start the child, in the main thread. None where the kernel cannot do it.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
        if os.getppid() != parent:  # it had ended before this was arranged
            os._exit(1)

    return arrange
