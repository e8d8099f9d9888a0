"""`decisive up`: the dashboard and a worker, in one command and under one stop."""

import contextlib
import os
import signal
import sys
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from db.errors import StoreError
from db.launch_queue import enqueue
from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.config_folder import ENVIRONMENT_VARIABLE, ConfigFolder
from runner.cli.chosen_configs import open_configs
from runner.cli.console import say, tell
from runner.cli.opening import open_campaign
from runner.cli.options import ConfigsOption, StoreOption
from runner.control.ports import is_listening
from runner.errors import UsageError
from runner.execute.supervisor import (
    DASHBOARD_GRACE_S,
    WORKER_GRACE_S,
    SupervisedCommand,
    Supervisor,
)

DEFAULT_PORT = 8501
_HOST = "127.0.0.1"
_PORTS_TRIED = 100


def up(
    store: StoreOption = DEFAULT_STORE_URL,
    configs: ConfigsOption = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65_535,
            help="Of the dashboard.",
            show_default=f"{DEFAULT_PORT}, or the next one that is free",
        ),
    ] = None,
    launch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Also launch this campaign of the configs.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Start the dashboard and a worker; Ctrl-C ends both after the sessions in flight."""
    folder = open_configs(configs)
    chosen_port = usable_port(port)
    with open_store(store) as opened:
        _say_places(opened, folder, chosen_port)
        if launch is not None:
            open_campaign(launch, folder)
            enqueue(opened, Path(launch).stem, requested_by="decisive up")
        store_url = opened.url if opened.path is not None else store
    env = {
        **os.environ,
        "DECISIVE_STORE": store_url,
        ENVIRONMENT_VARIABLE: str(folder.path.resolve()),
    }
    supervisor = Supervisor(_commands(chosen_port), env=env, tell=tell)
    try:
        _run(supervisor, f"http://{_HOST}:{chosen_port}" if open_page else None)
    finally:
        _fold_in_log(store_url)


def _run(supervisor: Supervisor, page: str | None) -> None:
    with _asking_on_signals(supervisor.ask_to_stop):
        try:
            supervisor.start()
            if page is not None:
                open_in_browser(page, os.environ)
            supervisor.wait()
        finally:
            tell("stopping: the sessions in flight end first; Ctrl-C again stops at once")
            supervisor.stop()


def _fold_in_log(store_url: str) -> None:
    """The last to close a SQLite store that it may write leaves one file: the dashboard only reads.

    A store that cannot be opened now keeps its write-ahead log, and loses nothing.
    """
    with contextlib.suppress(StoreError):
        open_store(store_url).close()


def _commands(port: int) -> list[SupervisedCommand]:
    """Modules by name: what the worker starts must not depend on what the dashboard imports.

    `-P`, since a `queue.py` of the working directory would be taken for that of the library.
    """
    worker = [sys.executable, "-P", "-m", "runner.cli", "worker"]
    dashboard = [sys.executable, "-P", "-m", "app.launch", str(port)]
    return [
        # What Streamlit says of its address and its end, we say ourselves.
        SupervisedCommand("dashboard", dashboard, DASHBOARD_GRACE_S, restarts=True, is_heard=False),
        SupervisedCommand("worker", worker, WORKER_GRACE_S, restarts=True),
    ]


def usable_port(named: int | None, is_taken: Callable[[int], bool] | None = None) -> int:
    """The port that was named, else the first free one from 8501 upwards, which is said.

    Raises UsageError.
    """
    is_taken = is_taken or (lambda port: is_listening(_HOST, port))
    if named is not None:
        if is_taken(named):
            raise UsageError(f"port {named} is in use; name another with --port")
        return named
    last = DEFAULT_PORT + _PORTS_TRIED - 1
    free = next((port for port in range(DEFAULT_PORT, last + 1) if not is_taken(port)), None)
    if free is None:
        raise UsageError(
            f"the ports {DEFAULT_PORT} to {last} are all in use; name another with --port"
        )
    if free != DEFAULT_PORT:
        say(
            f"port {DEFAULT_PORT} is in use by another program; this dashboard is on {free} "
            "(--port names another)"
        )
    return free


def _say_places(store: Store, folder: ConfigFolder, port: int) -> None:
    say(f"store:     {store.url}")
    say(f"configs:   {folder.path.resolve()}")
    say(f"dashboard: http://{_HOST}:{port}")


def open_in_browser(
    page: str,
    environment: Mapping[str, str],
    open_page: Callable[[str], bool] = webbrowser.open,
) -> None:
    """Where there is a screen: on a server it would start a text browser over our output."""
    has_screen = sys.platform == "darwin" or any(
        environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    is_open = False
    if has_screen:
        with contextlib.suppress(webbrowser.Error):
            is_open = open_page(page)
    if not is_open:
        missing = "no browser could be started" if has_screen else "there is no display"
        tell(f"--open: {missing} here; open {page} yourself")


@contextlib.contextmanager
def _asking_on_signals(ask: Callable[[], None]) -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: ask()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
