"""Whose fault an error is, as a script reads it off the exit status."""

from typing import Final

from db.errors import StoreError
from runner.cli.console import ExitStatus
from runner.errors import ClientProcessLostError, RunnerError, StackError, SupervisedProcessError

_NOT_THE_USERS: Final = (StackError, SupervisedProcessError, ClientProcessLostError)


def status_of_error(error: RunnerError | StoreError) -> ExitStatus:
    return ExitStatus.OUR_FAULT if isinstance(error, _NOT_THE_USERS) else ExitStatus.USAGE
