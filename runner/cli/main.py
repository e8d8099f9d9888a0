"""`decisive`: the commands, and the one place where an error becomes a sentence and a status."""

import errno
import logging
import sys
import traceback
from pathlib import Path
from tempfile import NamedTemporaryFile

import typer

from db.errors import StoreError
from runner.cli.cases_command import cases
from runner.cli.compare_command import compare
from runner.cli.console import ExitStatus, lost_result, tell
from runner.cli.evidence_command import evidence
from runner.cli.import_command import import_run
from runner.cli.logs_command import logs
from runner.cli.plan_command import plan
from runner.cli.power_command import power
from runner.cli.rejudge_command import rejudge
from runner.cli.report_command import report
from runner.cli.run_command import run
from runner.cli.show_command import show
from runner.cli.stack_commands import stack
from runner.cli.testbed_commands import testbed
from runner.cli.try_command import try_url
from runner.cli.up_command import up
from runner.cli.verdict_command import verdict
from runner.cli.watch_command import watch
from runner.cli.worker_command import worker
from runner.errors import RunnerError, StackError, SupervisedProcessError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})

app = typer.Typer(
    name="decisive",
    help="A/B debugging campaigns against LLM serving stacks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(plan)
app.command()(power)
app.command()(run)
app.command()(show)
app.command()(verdict)
app.command()(up)
app.command()(worker)
app.command("try")(try_url)
app.command()(cases)
app.command()(logs)
app.command()(watch)
app.command()(compare)
app.command("import")(import_run)
app.command()(evidence)
app.command()(rejudge)
app.command()(report)
app.add_typer(stack)
app.add_typer(testbed)


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
    except (StackError, SupervisedProcessError) as error:
        tell(str(error))
        sys.exit(ExitStatus.OUR_FAULT)
    except (RunnerError, StoreError) as error:
        tell(str(error))
        sys.exit(ExitStatus.USAGE)
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
        tell(f"a fault of Decisive itself: {type(error).__name__}: {error}")
        tell(f"the details are in {_kept_traceback()}; please report them")
        sys.exit(ExitStatus.OUR_FAULT)


def _kept_traceback() -> Path:
    with NamedTemporaryFile("w", prefix="decisive-fault-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    return Path(file.name)


if __name__ == "__main__":
    main()
