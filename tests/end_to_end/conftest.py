from collections.abc import Iterator

import pytest

from tests.end_to_end.forked_programs import FORKS


@pytest.fixture(scope="session", autouse=True)
def _forks_end_with_the_tests() -> Iterator[None]:
    yield
    FORKS.close()
