"""Finds the process of this machine that answers at an address, as Linux lists its sockets."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

_LISTENS = "0A"  # proc(5): TCP_LISTEN
_HERE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})
_USUAL_PORTS = {"http": 80, "https": 443}


def listening_process(url: str) -> int | None:
    """The process that listens there, the eldest where it has handed the socket on to children.

    None where the address is of another machine, where nobody listens, and where whoever does is
    not ours to look at.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or _USUAL_PORTS.get(parts.scheme)
    except ValueError:
        return None
    host = parts.hostname or ""
    if port is None or host not in {*_HERE, socket.gethostname()}:
        return None
    sockets = set(_listening_sockets(port))
    found = {pid for pid in _all_pids() if sockets & set(_sockets_of(pid))} if sockets else set()
    eldest = {pid for pid in found if _parent_of(pid) not in found}
    return min(eldest, default=None)


def _listening_sockets(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        for line in _read(Path("/proc/net") / table).splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                yield f"socket:[{fields[9]}]"


def _sockets_of(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError):  # it is of somebody else, or has ended
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(descriptor.readlink())


def _all_pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                yield int(entry.name)


def _parent_of(pid: int) -> int | None:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return int(fields[1]) if fields else None


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", errors="replace")
    except OSError:
        return ""
