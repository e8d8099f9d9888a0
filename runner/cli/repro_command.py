"""`decisive repro`: a session and the load around it as a folder that runs by itself."""

from pathlib import Path
from typing import Annotated

import typer

from db.store import open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import say
from runner.cli.options import StoreOption
from runner.evidence.number_words import counted_text
from runner.reproduction.folder import folder_files, write_folder
from runner.reproduction.recorded_load import recorded_load


def repro(
    reference: Annotated[
        str,
        typer.Argument(metavar="SESSION", help="A session, s-340, or one of its turns, s-340/2."),
    ],
    to: Annotated[Path, typer.Option("--to", help="The folder to be made; none is overwritten.")],
    store: StoreOption = DEFAULT_STORE_URL,
) -> None:
    """Write a session and what was in flight around it as requests and a script of their own."""
    with open_store_read_only(store) as opened:
        load = recorded_load(opened, reference)
    write_folder(folder_files(load), to)
    requests = sum(len(play.requests) for play in load.plays)
    sessions = counted_text(len(load.plays), "session")
    say(
        f"{to}: {counted_text(requests, 'request')} of {sessions}; {to / 'README.md'} says the rest"
    )
