"""`python -m runner.testbed serve ...`: reads the switches, binds the ports, serves.

Exit codes: 0 stopped as asked, 1 the engine crashed, 2 it cannot be started so, 130 interrupted.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from runner.testbed.launch_options import LaunchOptions, parse_launch_options
from runner.testbed.listening_socket import bind

_USAGE = """usage: python -m runner.testbed serve [switches]    (serve --help lists them)
       python -m runner.testbed router [switches]   (the router alone, before servers started apart)
       python -m runner.testbed causal [switches]   (the faults under their controls, measured)
"""


def main(argv: Sequence[str]) -> int:
    """The command behind `python -m runner.testbed`."""
    if argv and argv[0] == "serve":
        return serve(argv[1:])
    if argv and argv[0] == "router":
        from runner.testbed.router_command import main as route

        return route(argv[1:])
    if argv and argv[0] == "causal":
        from runner.testbed.causal_table import main as causal

        return causal(argv[1:])
    sys.stderr.write(_USAGE)
    return 2


def serve(argv: Sequence[str]) -> int:
    """Serve with these switches until stopped; returns the exit code.

    Raises SystemExit(2) when a switch does not fit, SystemExit(0) after `--help`.
    """
    options = parse_launch_options(argv)
    with ExitStack() as sockets:
        try:
            listener = sockets.enter_context(bind(options.host, options.port))
            options = replace(options, port=listener.getsockname()[1])
            if is_split(options):
                return _serve_split(argv, options, listener)
            bootstrap = None
            if options.disaggregation_mode == "prefill":
                port = options.disaggregation_bootstrap_port
                bootstrap = sockets.enter_context(bind(options.host, port))
                port = bootstrap.getsockname()[1]
                options = replace(options, disaggregation_bootstrap_port=port)
        except OSError as error:
            sys.stderr.write(f"Cannot listen on {error.strerror}.\n")
            return 2
        return _serve_one(options, listener, bootstrap)


def is_split(options: LaunchOptions) -> bool:
    """Whether this launch is a router with a prefill and a decode server behind it."""
    return options.disaggregation_mode == "null" and options.topology == "split"


def _serve_one(
    options: LaunchOptions, listener: socket.socket, bootstrap: socket.socket | None
) -> int:
    try:  # Imported late: `--help` and a wrong switch should not wait for torch.
        from runner.testbed.log_output import configure_log
        from runner.testbed.running_server import RunningServer, has_cuda
    except ModuleNotFoundError as error:
        sys.stderr.write(f"The testbed needs {error.name}: install the extra `testbed`.\n")
        return 2
    if options.device == "cuda" and not has_cuda():
        sys.stderr.write("--device cuda: torch sees no CUDA device here.\n")
        return 2
    log = configure_log(access_log=options.access_log)
    server = RunningServer(options, log, bootstrap=bootstrap)
    if options.end_with_stdin:
        threading.Thread(target=_await_end_of_input, args=(server.stop,), daemon=True).start()
    try:
        asyncio.run(server.serve(listener, on_ready=lambda: announce(options)))
    except KeyboardInterrupt:
        return 130
    return 1 if server.crash is not None else 0


def _serve_split(argv: Sequence[str], options: LaunchOptions, listener: socket.socket) -> int:
    from runner.testbed.log_output import configure_log
    from runner.testbed.topology import serve_split

    log = configure_log(access_log=options.access_log)
    try:
        return asyncio.run(
            serve_split(argv, options, listener, log, on_ready=lambda: announce(options))
        )
    except KeyboardInterrupt:
        return 130


def _await_end_of_input(stop: Callable[[], None]) -> None:
    """Whoever started us holds the other end; it closes even if they are killed."""
    sys.stdin.buffer.read()
    stop()


def announce(options: LaunchOptions) -> None:
    """One line on standard output that says where it listens."""
    role = "testbed" if options.disaggregation_mode == "null" else options.disaggregation_mode
    address = f"http://{options.host}:{options.port}"
    sys.stdout.write(f"{role} serves {options.served_model_name} on {address}\n")
    sys.stdout.flush()
