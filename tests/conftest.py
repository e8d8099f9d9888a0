"""What holds for all tests: the programs that they start can be interrupted."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes is the machine's doing.
settings.register_profile("decisive", deadline=None)
settings.load_profile("decisive")


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
