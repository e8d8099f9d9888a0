"""A disk that is full ends a campaign, and the store says so as soon as it can."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlmodel import Session

from db.clock import SystemClock
from db.connections import reading_engine, writing_engine
from db.errors import StoreError, StoreFullError
from db.schema_version import migrate
from db.store import Store
from db.store_url import parse_store_url
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end

FULL = "The disk with the store is full: make room and try again."


class StoreOnAFullDisk(Store):
    """Takes nothing from the moment it is `is_full` until its spare room is given up."""

    is_full = False

    @contextmanager
    def write(self) -> Iterator[Session]:
        if self.is_full:
            raise StoreFullError(FULL)
        with super().write() as session:
            yield session

    def spare_room(self) -> ExitStack:
        room = super().spare_room()
        room.callback(self._give_up)
        return room

    def fill(self) -> None:
        self.is_full = True

    def _give_up(self) -> None:
        self.is_full = False


def _store(folder: Path) -> StoreOnAFullDisk:
    url = parse_store_url(store_url(folder))
    migrate(url)
    return StoreOnAFullDisk(
        url, clock=SystemClock(), reading=reading_engine(url), writing=writing_engine(url)
    )


def test_a_run_that_a_full_disk_ended_says_so_and_so_does_the_next_command(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)
    store = _store(tmp_path)

    with pytest.raises(StoreError) as ended:
        run_once(tmp_path, store=store, watching=Watching(on_session=lambda _: store.fill()))

    assert FULL in str(ended.value)
    (cut,) = stored_runs(tmp_path)
    assert cut.state == "failed"
    assert FULL in (cut.reason or "")

    watching = Watching()
    run_once(tmp_path, watching=watching)

    assert [run.state for run in stored_runs(tmp_path)] == ["failed", "done"]
    (said,) = [note for note in watching.notes if note.startswith("r-1 failed: ")]
    assert FULL.rstrip(".") in said
    assert said.endswith("; it will be run again")
