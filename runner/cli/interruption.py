"""How a Ctrl-C ends what waits outside Python's own code; it imports nothing but signals.

Python runs its handler between two of its own instructions. A signal that comes just before a read
blocks is then noticed only when the read ends, which for a pipe may be never.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """Within it a Ctrl-C ends the process at once, as the signal does by default.

    For what has nothing to put in order. A handler of somebody else, or that none is wanted,
    stays so.
    """
    handler = signal.getsignal(signal.SIGINT)
    is_ours = (
        handler is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()
    )
    if not is_ours:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
