"""A store that another process holds for long stalls no stream and costs no session."""

import sqlite3
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from db.vocabulary import RunFlag, RunState
from runner.execute.progress import RunOfCampaign
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, stored_runs

pytestmark = pytest.mark.end_to_end

SESSIONS = 4
TURNS = SESSIONS * 2 * 2  # two rounds, each a call and its answer
# Below the time for which a writer waits for the lock, so that a frozen loop is seen as one.
PATIENCE_S = 25.0


@dataclass
class LockingOnceDriven(Watching):
    """Holds the store's write lock from the first session on, until all have been answered."""

    folder: Path = Path()
    answered_under_lock: int = 0
    threads: list[threading.Thread] = field(default_factory=list)

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        super().run_state(run, state)
        if state is RunState.DRIVING:
            locked = threading.Event()
            thread = threading.Thread(target=self._hold, args=(locked,))
            self.threads.append(thread)
            thread.start()
            locked.wait()

    def _hold(self, locked: threading.Event) -> None:
        url = self._metrics_url()
        connection = sqlite3.connect(self.folder / "decisive.db", isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        before, deadline_s = _answered(url), time.monotonic() + PATIENCE_S
        locked.set()
        while self.answered_under_lock < TURNS and time.monotonic() < deadline_s:
            self.answered_under_lock = _answered(url) - before
        connection.execute("ROLLBACK")
        connection.close()

    def _metrics_url(self) -> str:
        connection = sqlite3.connect(self.folder / "decisive.db")
        query = "SELECT json_extract(commands, '$.server.argv') FROM launch"
        ((argv,),) = connection.execute(query).fetchall()
        connection.close()
        port = argv.split('"--port",')[1].split('"')[1]
        return f"http://127.0.0.1:{port}/metrics"


def _answered(url: str) -> int:
    page = httpx.get(url, trust_env=False).text
    (line,) = [line for line in page.splitlines() if line.startswith("sglang:realtime_tokens")]
    return int(float(line.split()[-1]))


def test_streams_go_on_while_the_store_is_locked(tmp_path: Path) -> None:
    write_oracle_configs(
        tmp_path, levels=["fp8"], sessions=SESSIONS, switches=["--answer-delay-s", "1.2"]
    )
    watching = LockingOnceDriven(folder=tmp_path)

    run_once(tmp_path, watching=watching)

    for thread in watching.threads:
        thread.join()
    assert watching.answered_under_lock == TURNS
    (run,) = stored_runs(tmp_path)
    of_the_server = set(run.flags) - {RunFlag.CLIENT_SATURATED}  # a busy machine may say that
    assert (run.state, run.n_done, of_the_server) == ("done", SESSIONS, set())
