"""New stores, whose clock stands at `START_US` until a test moves it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from db.store import Store, open_store

START_US = 1_700_000_000_000_000
SECOND_US = 1_000_000


@dataclass
class FakeClock:
    """A clock that stands still until a test moves it."""

    now_us: int = START_US

    def utc_us(self) -> int:
        return self.now_us

    def monotonic_s(self) -> float:
        return self.now_us / SECOND_US

    def advance_s(self, seconds: float) -> None:
        self.now_us += round(seconds * SECOND_US)


def fresh_store(folder: Path, *, clock: FakeClock | None = None) -> Store:
    """A new store in `folder` whose clock stands at START_US."""
    file = folder / "decisive.db"
    file.write_bytes(_empty_store())
    return open_store(f"sqlite:///{file}", clock=clock or FakeClock())


@cache
def _empty_store() -> bytes:
    """Made once in a test run, since migrating takes longer than most tests."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        open_store(f"sqlite:///{file}").close()
        return file.read_bytes()
