import os
import socket
import subprocess
import sys

import pytest

from runner.control.ports import (
    free_ports,
    is_listening,
    listeners_at,
    process_with,
    sockets_of,
)


def _listening(host: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.bind((host, 0))
    listener.listen()
    return listener


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "::"])
def test_whoever_would_get_a_connection_is_found(bound: str) -> None:
    with _listening(bound) as listener:
        port = listener.getsockname()[1]

        (found,) = listeners_at("127.0.0.1", port) or ()

        assert found.inode in sockets_of([os.getpid()])
        named = process_with(found)
        assert named is not None and named[0] == os.getpid()


def test_a_listener_at_another_address_of_this_machine_is_none_of_this_one() -> None:
    with _listening("127.0.0.2") as listener:
        assert listeners_at("127.0.0.1", listener.getsockname()[1]) == ()


def test_nobody_of_ours_listens_at_another_machine() -> None:
    assert listeners_at("192.0.2.1", 80) == ()
    assert listeners_at("no-such-host.invalid", 80) == ()


def test_the_sockets_of_another_process_are_not_ours() -> None:
    code = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
        "print(s.getsockname()[1], flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        port = int(other.stdout.readline())

        (found,) = listeners_at("localhost", port) or ()

        assert found.inode not in sockets_of([os.getpid()])
        assert found.inode in sockets_of([other.pid])
        other.communicate()


def test_free_ports_are_different_and_nobody_listens_there() -> None:
    ports = free_ports(20)

    assert len(set(ports)) == 20
    assert not is_listening("127.0.0.1", ports[0])
