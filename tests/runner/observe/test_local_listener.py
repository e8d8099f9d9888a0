"""The process that answers at an address of this machine is found by its socket."""

import os
import socket
import sys

import pytest

from runner.observe.local_listener import listening_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc to look into")


def test_who_listens_is_found_by_the_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        assert listening_process(f"http://127.0.0.1:{port}/v1") == os.getpid()
        assert listening_process(f"http://localhost:{port}") == os.getpid()


def test_of_several_that_share_a_socket_it_is_the_eldest() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        hold_reader, hold_writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(hold_writer)
            os.read(hold_reader, 1)
            os._exit(0)
        try:
            assert listening_process(f"http://127.0.0.1:{server.getsockname()[1]}") == os.getpid()
        finally:
            os.close(hold_writer)
            os.waitpid(child, 0)
            os.close(hold_reader)


def test_where_nobody_listens_there_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert listening_process(f"http://127.0.0.1:{port}") is None


@pytest.mark.parametrize(
    "url", ["http://gpu-7.example:{port}", "http://127.0.0.1:99999", "ftp://127.0.0.1", "nonsense"]
)
def test_another_machine_and_no_address_at_all_have_none(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert listening_process(url.format(port=server.getsockname()[1])) is None
