"""Whether a process of this machine still runs. It knows nothing of why one asks."""

import os
import socket
from pathlib import Path

_ENDED_STATES = frozenset({"Z", "X", "x"})  # proc(5): zombie and dead


def this_host() -> str:
    return socket.gethostname()


def is_process_alive(process_id: int) -> bool:
    """False for a process that is gone or has ended without being waited for."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state_of(process_id) not in _ENDED_STATES


def _state_of(process_id: int) -> str | None:
    """The state letter in /proc, or None where there is no /proc."""
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text(errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[0]
