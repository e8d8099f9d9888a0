"""`python -m runner.testbed serve ...`: reads the switches, binds the port, serves.

Exit codes: 0 stopped as asked, 1 the engine crashed, 2 it cannot be started so, 130 interrupted.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace

from runner.testbed.launch_options import LaunchOptions, parse_launch_options
from runner.testbed.log_lines import configure_log

_USAGE = "usage: python -m runner.testbed serve [switches]   (serve --help lists them)\n"


def main(argv: Sequence[str]) -> int:
    """The command behind `python -m runner.testbed`."""
    if not argv or argv[0] != "serve":
        sys.stderr.write(_USAGE)
        return 2
    return serve(argv[1:])


def serve(argv: Sequence[str]) -> int:
    """Serve with these switches until stopped; returns the exit code.

    Raises SystemExit(2) when a switch does not fit, SystemExit(0) after `--help`.
    """
    options = parse_launch_options(argv)
    try:  # Imported late: `--help` and a wrong switch should not wait for torch.
        from runner.testbed.running_testbed import RunningTestbed
    except ModuleNotFoundError as error:
        sys.stderr.write(f"The testbed needs {error.name}: install the extra `testbed`.\n")
        return 2
    try:
        listener = _bind(options)
    except OSError as error:
        sys.stderr.write(f"Cannot listen on {options.host}:{options.port}: {error.strerror}.\n")
        return 2
    with listener:
        options = replace(options, port=listener.getsockname()[1])
        testbed = RunningTestbed(options, configure_log(access_log=options.access_log))
        try:
            asyncio.run(testbed.serve(listener, on_ready=lambda: _announce(options)))
        except KeyboardInterrupt:
            return 130
    return 1 if testbed.crash is not None else 0


def _bind(options: LaunchOptions) -> socket.socket:
    """A bound socket that does not listen yet, so that nobody connects before there is an answer.

    Raises OSError when the port is taken or the address is not ours.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host, options.port))
    except OSError:
        listener.close()
        raise
    return listener


def _announce(options: LaunchOptions) -> None:
    address = f"http://{options.host}:{options.port}"
    sys.stdout.write(f"testbed serves {options.served_model_name} on {address}\n")
    sys.stdout.flush()
