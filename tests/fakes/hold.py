"""Lets a test hold a campaign in one state: what is held there waits while a file says so.

FOLDER/hold names what is held. Whatever waits because of it leaves FOLDER/held-NAME first.
"""

import time
from pathlib import Path

_POLL_S = 0.02


def is_held(folder: Path, what: str) -> bool:
    """Says that it has been met, where it is."""
    try:
        held = (folder / "hold").read_text("ascii").split()
    except FileNotFoundError:
        return False
    if what not in held:
        return False
    (folder / f"held-{what}").touch()
    return True


def wait_while_held(folder: Path, what: str) -> None:
    while is_held(folder, what):
        time.sleep(_POLL_S)
