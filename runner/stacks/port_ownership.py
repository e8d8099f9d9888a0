"""Holds that what answers at a service's address is the service that we started, and no other."""

from collections.abc import Sequence

import httpx

from runner.campaign.stack_shape import ControllerName
from runner.control.ports import Listener, is_listening, listeners_at, process_with, sockets_of
from runner.control.process import ServiceProcess
from runner.errors import StackStartError
from runner.stacks.service_launch import ServiceLaunch

_ADVICE = (
    "stop it, choose another port in the stack file, or write `controller: external` to measure "
    "a server that runs already"
)
_SHOWN_COMMAND = 120
_LOOPBACK = ("127.0.0.1", "localhost")


def refuse_taken_addresses(launches: Sequence[ServiceLaunch]) -> None:
    """Before the start. Raises StackStartError where one of ours would answer in vain."""
    for launch in launches:
        if launch.definition.controller is not ControllerName.PROCESS:
            continue
        host, port = _place_of(launch)
        listeners = listeners_at(host, port)
        if listeners:
            raise StackStartError(
                f"{launch.name} cannot be started: {launch.base_url} is already served by "
                f"{_named(listeners[0])}; {_ADVICE}"
            )
        if listeners is None and host in _LOOPBACK and is_listening(host, port):
            raise StackStartError(
                f"{launch.name} cannot be started: something answers at {launch.base_url} "
                f"already; {_ADVICE}"
            )


def require_own_listener(launch: ServiceLaunch, process: ServiceProcess) -> None:
    """After readiness. Raises StackStartError where another process than ours had answered.

    Says nothing where it cannot be told who listens.
    """
    listeners = listeners_at(*_place_of(launch))
    if not listeners:
        return
    own = sockets_of(process.members())
    for listener in listeners:
        # A command such as sudo runs the server as another user, whose sockets we may not see.
        if listener.inode not in own and process_with(listener) is not None:
            raise StackStartError(
                f"{launch.base_url} is answered by {_named(listener)}, not by the {launch.name} "
                f"that was started (process {process.mark.pid}); {_ADVICE}"
            )


def _place_of(launch: ServiceLaunch) -> tuple[str, int]:
    url = httpx.URL(launch.base_url)
    return url.host, url.port or (443 if url.scheme == "https" else 80)


def _named(listener: Listener) -> str:
    found = process_with(listener)
    if found is None:
        return "a process of another user"
    pid, command = found
    shown = command if len(command) <= _SHOWN_COMMAND else f"{command[:_SHOWN_COMMAND]} ..."
    return f"process {pid} ({shown})"
