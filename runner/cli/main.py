"""`decisive`: the commands, and the one place where an error becomes a sentence and a status."""

import errno
import logging
import os
import sys
import traceback
from pathlib import Path
from tempfile import NamedTemporaryFile

from db.errors import StoreError
from runner.cli.command_list import listing
from runner.cli.console import ExitStatus, lost_result, tell
from runner.cli.error_status import status_of_error
from runner.control.secrets import likely_secrets
from runner.errors import RunnerError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})

app = listing()


def main() -> None:
    """Runs the command line; what goes wrong is one sentence, and the status says whose fault."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    try:
        _run()
    finally:
        lost = lost_result()
        if lost is not None:
            tell(lost)
            sys.exit(ExitStatus.USAGE)


def _run() -> None:
    try:
        app()
    except (RunnerError, StoreError) as error:
        tell(str(error))
        sys.exit(status_of_error(error))
    except KeyboardInterrupt:
        sys.exit(ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone; what is left in the buffer has nowhere to go either.
        sys.stdout = None
        sys.exit(ExitStatus.FINE)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            tell(f"{error.filename or 'a file'} cannot be written: {error.strerror}")
            sys.exit(ExitStatus.USAGE)
        said = likely_secrets(os.environ).hidden_text(f"{type(error).__name__}: {error}")
        tell(f"a fault of Decisive itself: {said}")
        tell(f"the details are in {_kept_traceback()}; please report them")
        sys.exit(ExitStatus.OUR_FAULT)


def _kept_traceback() -> Path:
    """Without keys: whoever reports a fault passes this file on."""
    with NamedTemporaryFile("w", prefix="decisive-fault-", suffix=".txt", delete=False) as file:
        file.write(likely_secrets(os.environ).hidden_text(traceback.format_exc()))
    return Path(file.name)
