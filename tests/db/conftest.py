from collections.abc import Iterator
from pathlib import Path

import pytest

from db.store import Store
from tests.db.fresh_stores import FakeClock, fresh_store


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
    with fresh_store(tmp_path, clock=clock) as store:
        yield store
