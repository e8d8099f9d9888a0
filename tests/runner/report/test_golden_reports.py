"""Reports of every scope are, byte for byte, what was read through and kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.db.fresh_stores import fresh_store
from tests.runner.report.golden_reports import KEPT, golden_reports


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    folder: Path = tmp_path_factory.mktemp("golden")
    with fresh_store(folder) as store:
        yield dict(golden_reports(store))


NAMES = sorted(path.name for path in KEPT.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_as_it_was_read_through(name: str, made: dict[str, bytes]) -> None:
    assert made[name].decode() == (KEPT / name).read_text("utf-8"), (
        "read the difference; if it is meant: python -m tests.runner.report.golden_reports"
    )


def test_every_report_that_is_made_is_kept(made: dict[str, bytes]) -> None:
    assert sorted(made) == NAMES
