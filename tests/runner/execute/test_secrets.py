"""An API key that the server repeats wherever it can is found nowhere afterwards."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from runner.errors import UsageError
from tests.fakes.controlled_configs import ControlledStack, external
from tests.runner.execute.campaign_bench import Watching, run_once, stored_runs

pytestmark = pytest.mark.end_to_end

CANARY = "sk-canary-4f1b2c"
KEYS = "    api_key_env: ORACLE_KEY\n    header_env: {X-Team: ORACLE_TEAM}\n"
ENVIRONMENT = {"ORACLE_KEY": f"{CANARY}\n", "ORACLE_TEAM": "team-canary-7d"}


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[ControlledStack]:
    made = external(tmp_path, levels=["fp8"], sessions=6, switches=["--tells-headers"], keys=KEYS)
    yield made
    made.close()


def everything_in(store: Path) -> Iterator[tuple[str, bytes]]:
    """(table, bytes) of every value of every row, compressed ones opened."""
    with sqlite3.connect(store) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {table}"):
                for value in row:
                    is_packed = isinstance(value, bytes) and value[:4] == b"\x28\xb5\x2f\xfd"
                    opened = zstandard.decompress(value) if is_packed else str(value).encode()
                    yield table, opened


def test_a_key_that_the_server_repeats_is_found_nowhere(
    talkative: ControlledStack, tmp_path: Path
) -> None:
    watching = Watching()

    run_once(tmp_path, watching=watching, environment=ENVIRONMENT)

    (run,) = stored_runs(tmp_path)
    assert (run.state, run.n_ended) == ("done", 6), (run.reason, watching.notes)
    assert CANARY in (tmp_path / "oracle.journal").read_text("utf-8"), "the server did tell it"
    told = list(everything_in(tmp_path / "decisive.db"))
    hidden = b"Bearer " + b"*" * len(CANARY)
    assert (
        {"raw", "turn", "fingerprint", "log_event"} >= {t for t, v in told if hidden in v} > {"raw"}
    )
    assert not [table for table, value in told if CANARY.encode() in value]
    assert CANARY not in "".join(watching.notes)
    assert CANARY.encode() not in (tmp_path / "decisive.db").read_bytes()


def test_a_key_that_is_not_set_is_asked_for_by_name(
    talkative: ControlledStack, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="no ORACLE_KEY, which holds the API key"):
        run_once(tmp_path, environment={"ORACLE_TEAM": "x"})
