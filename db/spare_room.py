"""Room kept free beside a store, so that a full disk can be told of in the store itself."""

import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkstemp

SPARE_BYTES = 512 * 1024


def spare_room(folder: Path) -> ExitStack:
    """Room that is taken now and given up when this is closed, or when the process ends.

    Nothing is taken where there is no room, or where we may not write.
    """
    taken = ExitStack()
    try:
        number, name = mkstemp(dir=folder)
        taken.callback(os.close, number)
        Path(name).unlink()
        os.write(number, os.urandom(SPARE_BYTES))  # zeros may be stored as nothing
    except OSError:
        taken.close()
    return taken
