"""What holds for all tests: the programs that they start can be interrupted."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _interrupts_reach_the_programs_under_test() -> Iterator[None]:
    """A shell starts what it runs in the background with SIGINT ignored, which children inherit; a
    handler here lets them begin as they would in a terminal.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
