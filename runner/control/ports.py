"""Which ports of this machine are free, and whose process listens on one that is not."""

import contextlib
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTEN = "0A"  # the state in those tables, include/net/tcp_states.h

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket; the kernel names it by its inode."""

    address: Address
    inode: int


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free a moment ago; a service that loses the race for it fails to start."""
    return free_ports(1, host)[0]


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """As many different ports that were free a moment ago."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((host, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def is_listening(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0


def listeners_at(host: str, port: int) -> tuple[Listener, ...] | None:
    """Who would get a connection to `host`; None where there is no /proc to tell it.

    None listens at a host that is not this machine.
    """
    if not Path(_TABLES[0]).exists():
        return None
    wanted = _own_addresses(host)
    return tuple(
        listener
        for listener in _listeners(port)
        if listener.address.is_unspecified or listener.address in wanted
    )


def sockets_of(pids: Collection[int]) -> frozenset[int]:
    """The inodes of all sockets that these processes hold, as far as we may look."""
    return frozenset(inode for pid in pids for inode in _sockets_of(pid))


def process_with(listener: Listener) -> tuple[int, str] | None:
    """Pid and command line of a process that holds it, or None where we may not see it."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and listener.inode in _sockets_of(int(entry.name)):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                return int(entry.name), b" ".join(words).decode("utf-8", "replace").strip()
    return None


def _own_addresses(host: str) -> frozenset[Address]:
    """The addresses of `host` that are this machine's: those that a socket can be bound to."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset()
    own = set()
    for family, _, _, _, place in found:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((place[0], 0))
            own.add(ip_address(str(place[0]).partition("%")[0]))
    return frozenset(own)


def _listeners(port: int) -> Iterator[Listener]:
    for table in _TABLES:
        try:
            lines = Path(table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state, *rest = line.split()
            address, _, port_hex = local.partition(":")
            if state == _LISTEN and int(port_hex, 16) == port:
                yield Listener(_address_of(address), int(rest[5]))


def _address_of(text: str) -> Address:
    """From the table's words of 32 bits, each in the byte order of a little-endian machine."""
    packed = b"".join(
        bytes.fromhex(text[start : start + 8])[::-1] for start in range(0, len(text), 8)
    )
    address = ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _sockets_of(pid: int) -> Iterator[int]:
    try:
        handles = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return
    for handle in handles:
        with contextlib.suppress(OSError):
            target = str(handle.readlink())
            if target.startswith("socket:["):
                yield int(target[8:-1])
