"""A worker serves the queue: what cannot begin waits, and what is cut says truly by whom."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from db.launch_queue import enqueue, request_stop
from db.process_liveness import this_host
from db.stack_lease import Holder, acquire_stack, release_stack
from db.store import Store, open_store
from db.tables.runs import RunRow
from db.tables.work import LaunchRequestRow, StackLeaseRow
from db.vocabulary import RunState
from db.workers import liveness_now, worker_started
from runner.campaign.config_folder import ConfigFolder
from runner.execute.progress import RunOfCampaign, SilentProgress
from runner.execute.stop_request import StopRequest, stopping_on_signals
from runner.execute.worker import Worker
from runner.execute.worker_identity import holder_of
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import store_url, stored_runs

pytestmark = pytest.mark.end_to_end

SOMEBODY = Holder("run-1@elsewhere", "elsewhere", 1)


@dataclass
class Listening(SilentProgress):
    notes: list[str] = field(default_factory=list)
    on_note: Callable[[str], None] = lambda text: None
    on_state: Callable[[RunState], None] = lambda state: None

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        self.on_state(state)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self.on_note(text)


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    return write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)


@pytest.fixture
def store(configs: Path) -> Iterator[Store]:
    with open_store(store_url(configs)) as opened:
        yield opened


def _worker(store: Store, configs: Path, listening: Listening) -> Worker:
    return Worker(
        store=store,
        configs=ConfigFolder(configs),
        holder=holder_of("worker"),
        stop=StopRequest(),
        progress=listening,
    )


def _request(store: Store, request_id: int) -> LaunchRequestRow:
    with store.session() as session:
        request = session.get(LaunchRequestRow, request_id)
    assert request is not None
    return request


def test_a_request_whose_stack_is_busy_waits_for_it_and_is_then_run(
    store: Store, configs: Path
) -> None:
    acquire_stack(store, "oracle", SOMEBODY, liveness=liveness_now(store))
    request_id = enqueue(store, "oracle-test").id
    assert request_id is not None

    def give_it_back(text: str) -> None:
        if "waits" in text:
            release_stack(store, "oracle", SOMEBODY)

    listening = Listening(on_note=give_it_back)

    asyncio.run(_worker(store, configs, listening).work(until_empty=True))

    request = _request(store, request_id)
    assert (request.state, request.attempts) == ("done", 1)
    waits = [note for note in listening.notes if "waits" in note]
    assert waits == [
        f"q-{request_id} waits: Stack oracle is driven by run-1@elsewhere (process 1 on "
        "elsewhere): wait until it has ended, or stop it."
    ]
    assert [run.state for run in stored_runs(configs)] == ["done"]


def test_a_store_that_cannot_be_used_for_a_while_does_not_end_the_worker(
    store: Store, configs: Path
) -> None:
    request_id = enqueue(store, "oracle-test").id
    assert request_id is not None
    with store.write() as session:
        session.connection().execute(text("ALTER TABLE launch_request RENAME TO away"))

    def mend(said: str) -> None:
        if "cannot be used" in said:
            with store.write() as session:
                session.connection().execute(text("ALTER TABLE away RENAME TO launch_request"))

    listening = Listening(on_note=mend)

    asyncio.run(_worker(store, configs, listening).work(until_empty=True))

    assert _request(store, request_id).state == "done"
    assert any("no such table: launch_request" in note for note in listening.notes)


def test_a_campaign_that_is_complete_says_so_when_it_is_launched_again(
    store: Store, configs: Path
) -> None:
    first, second = enqueue(store, "oracle-test").id, enqueue(store, "oracle-test").id
    assert first is not None and second is not None

    asyncio.run(_worker(store, configs, Listening()).work(until_empty=True))

    assert _request(store, first).message is None
    assert "nothing was missing" in (_request(store, second).message or "")
    assert _request(store, second).campaign_id == _request(store, first).campaign_id


def test_a_launch_is_told_its_campaign_before_its_first_run_begins(
    store: Store, configs: Path
) -> None:
    request_id = enqueue(store, "oracle-test").id
    assert request_id is not None
    told: list[int | None] = []
    listening = Listening(on_state=lambda _: told.append(_request(store, request_id).campaign_id))

    asyncio.run(_worker(store, configs, listening).work(until_empty=True))

    assert told and set(told) == {1}


def test_a_run_whose_stack_was_taken_away_does_not_blame_the_user(
    store: Store, configs: Path
) -> None:
    def take_it_away(state: RunState) -> None:
        if state is RunState.VERIFYING:
            with store.write() as session:
                lease = session.get(StackLeaseRow, "oracle")
                assert lease is not None
                lease.holder = "somebody else"

    request_id = enqueue(store, "oracle-test").id
    assert request_id is not None
    listening = Listening(on_state=take_it_away)
    slow = write_oracle_configs(configs, levels=["fp8"], switches=["--answer-delay-s", "30"])

    asyncio.run(_worker(store, slow, listening).work(until_empty=True))

    (run,) = stored_runs(configs)
    assert run.state == "stopped"
    assert "no longer in the hands of" in (run.reason or "")
    request = _request(store, request_id)
    assert request.state == "failed"
    assert "no longer in the hands of" in (request.message or "")


@pytest.mark.parametrize(
    ("blocks", "note", "message"),
    [
        (
            2,
            "was stopped after 1 of 2 runs; launched again, it goes on with the others",
            "stopped; launching it again goes on with what is missing",
        ),
        (
            1,
            "has ended; its pages stay open",
            "stopped in its last run: nothing is missing",
        ),
    ],
)
def test_a_campaign_that_was_stopped_says_whether_anything_is_missing(
    store: Store, configs: Path, blocks: int, note: str, message: str
) -> None:
    write_oracle_configs(configs, levels=["fp8"], sessions=4, blocks=blocks)
    request_id = enqueue(store, "oracle-test").id
    assert request_id is not None

    @dataclass
    class StoppingAfterOne(Listening):
        stop: StopRequest | None = None

        def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
            assert self.stop is not None
            self.stop.ask()

    listening = StoppingAfterOne()
    worker = _worker(store, configs, listening)
    listening.stop = worker.stop

    asyncio.run(worker.work(until_empty=True))

    (said,) = [each for each in listening.notes if each.startswith("campaign c-")]
    assert said == f"campaign c-1 {note}"
    request = _request(store, request_id)
    assert (request.state, request.message) == ("stopped", message)


def test_a_supervised_worker_leaves_it_to_its_supervisor_to_say_who_asked() -> None:
    said: list[str] = []

    async def two_signals() -> StopRequest:
        stop, task = StopRequest(), asyncio.current_task()
        assert task is not None
        stop.bind(task)
        with stopping_on_signals(stop, said=said.append, is_supervised=True):
            signal.raise_signal(signal.SIGTERM)
            await stop.soft.wait()
            signal.raise_signal(signal.SIGTERM)
            with pytest.raises(asyncio.CancelledError):
                await asyncio.Event().wait()
        return stop

    assert asyncio.run(two_signals()).was_asked
    assert said == ["stopping at once"]


def _decided_configs(folder: Path, **more: Any) -> Path:
    return write_oracle_configs(folder, levels=["fp8", "bf16"], stop="decided", **more)


def test_blocks_are_added_until_it_is_decided(store: Store, configs: Path) -> None:
    _decided_configs(configs, sessions=8, tolerate=0.4)
    request_id = enqueue(store, "oracle-test", most_blocks=9).id
    assert request_id is not None
    listening = Listening()

    asyncio.run(_worker(store, configs, listening).work(until_empty=True))

    request = _request(store, request_id)
    assert (request.state, request.message) == ("done", "decided: first-is-clean confirmed")
    added = [note for note in listening.notes if "is added" in note]
    assert added[0] == "not decided yet: first-is-clean; block 2 is added"
    blocks = {run.block for run in stored_runs(configs)}
    assert blocks == set(range(1, len(added) + 2))
    assert max(blocks) < 9


def test_it_ends_at_the_most_blocks_where_nothing_decides_it(store: Store, configs: Path) -> None:
    _decided_configs(configs, sessions=4)
    request_id = enqueue(store, "oracle-test", most_blocks=2).id
    assert request_id is not None

    asyncio.run(_worker(store, configs, Listening()).work(until_empty=True))

    request = _request(store, request_id)
    assert (request.state, request.message) == (
        "done",
        "not decided after 2 blocks: first-is-clean; no more were asked for",
    )
    assert {run.block for run in stored_runs(configs)} == {1, 2}


def test_a_launch_of_which_the_stop_rule_spares_all_says_so(store: Store, configs: Path) -> None:
    _decided_configs(configs, sessions=8, tolerate=0.4)
    first = enqueue(store, "oracle-test", most_blocks=9).id
    again = enqueue(store, "oracle-test", blocks=9).id
    assert first is not None and again is not None

    asyncio.run(_worker(store, configs, Listening()).work(until_empty=True))

    assert _request(store, first).message == "decided: first-is-clean confirmed"
    assert "its stop rule spares what is missing" in (_request(store, again).message or "")


def test_a_stop_ends_the_adding_and_the_next_launch_goes_on_with_it(
    store: Store, configs: Path
) -> None:
    _decided_configs(configs, sessions=4)
    first = enqueue(store, "oracle-test", most_blocks=3).id
    assert first is not None

    def stop_at_the_second(text: str) -> None:
        if text.endswith("block 2 is added"):
            request_stop(store, first)
            worker.stop.ask()

    listening = Listening(on_note=stop_at_the_second)
    worker = _worker(store, configs, listening)
    asyncio.run(worker.work(until_empty=True))
    assert _request(store, first).state == "stopped"
    assert {run.block for run in stored_runs(configs) if run.state == "done"} == {1}

    second = enqueue(store, "oracle-test", blocks=1, most_blocks=2).id
    assert second is not None
    asyncio.run(_worker(store, configs, Listening()).work(until_empty=True))

    assert "not decided after 2 blocks" in (_request(store, second).message or "")
    assert {run.block for run in stored_runs(configs) if run.state == "done"} == {1, 2}


def test_a_campaign_with_another_rule_is_not_run_until_decided(store: Store, configs: Path) -> None:
    write_oracle_configs(configs, levels=["fp8", "bf16"], sessions=4)
    request_id = enqueue(store, "oracle-test", most_blocks=2).id
    assert request_id is not None

    asyncio.run(_worker(store, configs, Listening()).work(until_empty=True))

    request = _request(store, request_id)
    assert request.state == "failed"
    assert "oracle-test has stop: fixed" in (request.message or "")


def test_a_worker_stops_what_a_killed_one_left_though_nobody_launches_it_again(
    store: Store, configs: Path
) -> None:
    asyncio.run(_run_to_the_end(store, configs))
    worker_started(store, "worker-killed", process_id=_pid_of_nobody(), host=this_host())
    with store.write() as session:
        run = session.get(RunRow, 1)
        assert run is not None
        run.state, run.worker = RunState.DRIVING, "worker-killed"
        run.started_at_us = run.ended_at_us = None
    listening = Listening()

    asyncio.run(_worker(store, configs, listening).work(until_empty=True))

    (left,) = stored_runs(configs)
    assert (left.state, "is gone" in (left.reason or "")) == ("stopped", True)
    assert [note for note in listening.notes if note.startswith("r-1 was interrupted")]


def test_a_worker_stops_its_own_run_whose_end_the_store_did_not_take(
    store: Store, configs: Path
) -> None:
    asyncio.run(_run_to_the_end(store, configs))
    listening = Listening(on_note=lambda said: worker.stop.ask() if " waits: " in said else None)
    worker = _worker(store, configs, listening)
    with store.write() as session:
        run = session.get(RunRow, 1)
        assert run is not None
        run.state, run.worker = RunState.DRIVING, worker.holder.name
        run.started_at_us, run.ended_at_us = store.clock.utc_us() + 60_000_000, None
    enqueue(store, "oracle-test")

    asyncio.run(worker.work(until_empty=True))

    assert [run.state for run in stored_runs(configs)] == ["stopped", "done"]


async def _run_to_the_end(store: Store, configs: Path) -> None:
    enqueue(store, "oracle-test")
    await _worker(store, configs, Listening()).work(until_empty=True)


def _pid_of_nobody() -> int:
    """Of a process that has ended and was waited for."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid
