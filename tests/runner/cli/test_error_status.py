"""Scripts tell by the exit status whether to call again, or to look for what broke."""

import pytest

from db.errors import StoreError
from runner.cli.error_status import status_of_error
from runner.errors import (
    ClientExhaustedError,
    ClientProcessLostError,
    ConfigError,
    RunnerError,
    StackStartError,
    SupervisedProcessError,
)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigError("workload: unknown key"), 2),
        (StoreError("no such file"), 2),
        (ClientExhaustedError("no more sockets"), 2),
        (StackStartError("server was not ready"), 4),
        (SupervisedProcessError("the worker does not stay up"), 4),
        (ClientProcessLostError("client process 1 of 2 was killed by SIGKILL"), 4),
    ],
)
def test_what_no_other_call_would_mend_is_no_mistake_of_the_user(
    error: RunnerError | StoreError, status: int
) -> None:
    assert status_of_error(error) == status
