"""A server that was not started here is never measured in the place of one that was."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.campaign.stack_shape import ServiceDefinition
from runner.control.ports import free_port
from runner.control.process import ServiceProcess, hold_process
from runner.errors import StackStartError
from runner.stacks.port_ownership import refuse_taken_addresses, require_own_listener
from runner.stacks.service_launch import ServiceLaunch

LISTENING_CHILD = (
    'import subprocess, sys; code = "import socket, sys, time; s = socket.create_server('
    "('127.0.0.1', int(sys.argv[1]))); print('up', flush=True); time.sleep(60)\";"
    "subprocess.run([sys.executable, '-c', code, sys.argv[1]])"
)


def _launch(port: int, controller: str = "process") -> ServiceLaunch:
    definition = ServiceDefinition.model_validate({"controller": controller})
    return ServiceLaunch("server", ("serve",), {}, f"http://127.0.0.1:{port}", definition)


@pytest.fixture
def foreign_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    held = hold_process([sys.executable, "-c", ""], env={}, log_path=tmp_path / "log")
    yield held
    held.stop(grace_s=0.5)


def test_a_service_is_not_started_where_another_server_listens(foreign_port: int) -> None:
    with pytest.raises(StackStartError, match=r"is already served by process \d+ .*controller"):
        refuse_taken_addresses([_launch(foreign_port)])


def test_a_server_of_somebody_else_may_listen_where_we_only_ask(foreign_port: int) -> None:
    refuse_taken_addresses([_launch(foreign_port, "external")])


def test_a_free_address_is_taken() -> None:
    refuse_taken_addresses([_launch(free_port())])


def test_an_answer_of_another_process_does_not_count_as_ours(
    foreign_port: int, service: ServiceProcess
) -> None:
    with pytest.raises(StackStartError, match="not by the server that was started"):
        require_own_listener(_launch(foreign_port), service)


def test_a_listener_that_our_service_started_is_ours(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    service = hold_process([sys.executable, "-c", LISTENING_CHILD, str(port)], env={}, log_path=log)
    service.release()
    while log.read_text() != "up\n":
        assert service.exit_status is None, log.read_text()

    require_own_listener(_launch(port), service)

    service.stop()
