"""What watches a run must not hold up the run: slow logs and pages are left to threads."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx
import pytest
from sqlmodel import SQLModel

from db.clock import SystemClock
from db.raw_bytes import decompress
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.sessions import RawRow
from db.vocabulary import RawKind
from runner.campaign.stack_shape import ServiceRole
from runner.observe.log_events import LogEvent
from runner.observe.log_follower import LogSource
from runner.observe.run_observer import ObservedService, RunObserver
from tests.runner.observe.catalogue import CATALOGUE
from tests.runner.observe.test_service_log import SMALL, STATUS, Written, waiting_line

PATIENT_S = 30.0
PAGE = b'sglang:num_running_reqs{dp_rank="0"} 3\nsglang:num_running_reqs{dp_rank="1"} 4\n'


@dataclass
class Gated:
    """A log whose reading stands still until the gate opens, as on a network disk that hangs."""

    content: bytes
    gate: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    trouble: str | None = None

    def read_new(self, limit_bytes: int) -> bytes:
        self.entered.set()
        assert self.gate.wait(PATIENT_S), "nobody opened the gate: the loop was held up"
        piece, self.content = self.content, b""
        return piece

    def behind_bytes(self) -> int:
        return len(self.content)

    def close(self) -> None:
        self.closed.set()


def _observer(
    log: LogSource | None = None,
    *,
    page: Callable[[httpx.Request], httpx.Response] | None = None,
    rows: list[SQLModel] | None = None,
    services: Sequence[ObservedService] | None = None,
    **more: object,
) -> RunObserver:
    kept: list[SQLModel] = [] if rows is None else rows
    service = ObservedService("server", "http://server/metrics" if page else None, log)
    transport = httpx.MockTransport(page or (lambda request: httpx.Response(404)))
    return RunObserver(
        run_id=1,
        http=httpx.AsyncClient(transport=transport),
        sink=kept.extend,
        clock=SystemClock(),
        services=services or [service],
        catalogue=CATALOGUE,
        log_budget=SMALL,
        **more,  # type: ignore[arg-type]
    )


async def test_the_loop_goes_on_while_a_log_is_being_read() -> None:
    log, seen = Gated(waiting_line(1)), list[LogEvent]()
    observer = _observer(log, on_events=lambda _, events: seen.extend(events))

    looking = asyncio.create_task(observer.look(is_last=True))
    await asyncio.to_thread(log.entered.wait, PATIENT_S)
    log.gate.set()
    await looking

    assert [event.id for event in seen] == ["kv_wait_timeout"]


async def test_a_log_that_hangs_is_left_behind_and_taken_up_again_later() -> None:
    log, rows = Gated(waiting_line(1)), list[SQLModel]()
    observer = _observer(log, rows=rows, look_deadline_s=0.0)

    await observer.look()
    await observer.look()
    first = list(rows)
    log.gate.set()
    observer.look_deadline_s = PATIENT_S
    await observer.look()

    assert first == []
    assert [row.content_of() for row in map(_Row, rows) if row.is_raw] == [waiting_line(1)]


async def test_a_log_is_closed_once_the_thread_that_reads_it_has_ended() -> None:
    log = Gated(b"")
    observer = _observer(log, look_deadline_s=0.0)
    await observer.look()

    observer.close()
    was_open = not log.closed.is_set()
    log.gate.set()

    assert was_open
    assert await asyncio.to_thread(log.closed.wait, PATIENT_S)


async def test_the_last_look_reads_to_the_end_of_a_burst_and_says_how_far_it_was_behind() -> None:
    burst = b"".join(waiting_line(number) for number in range(400))
    rows: list[SQLModel] = []
    observer = _observer(Written(burst), rows=rows, last_look_deadline_s=PATIENT_S)

    await observer.look()
    lag = observer.lags()["server"].now
    await observer.look(is_last=True)

    facts = observer.facts()["server"]
    assert 0 < lag == facts["most_behind_bytes"]
    assert facts["unread_bytes"] == 0
    assert observer.wedge_counts(()).requests == 400
    assert b"".join(row.content_of() for row in map(_Row, rows) if row.is_raw) == burst


async def test_a_last_look_that_runs_out_of_time_says_what_it_left_unread() -> None:
    burst = b"".join(waiting_line(number) for number in range(400))
    observer = _observer(Written(burst), last_look_deadline_s=PATIENT_S)
    await observer.look()

    observer.last_look_deadline_s = 0.0
    await observer.look(is_last=True)

    assert observer.facts()["server"]["unread_bytes"] > 0


async def test_so_many_lines_of_a_kind_have_rows_and_all_are_counted() -> None:
    burst = b"".join(waiting_line(number) for number in range(50))
    rows: list[SQLModel] = []
    observer = _observer(Written(burst), rows=rows, most_rows_of_a_kind=20)

    await observer.look(is_last=True)

    assert sum(isinstance(row, LogEventRow) for row in rows) == 20
    assert observer.wedge_counts(()).lines == 50
    assert observer.facts()["server"]["rows_left_out"] == 30


async def test_a_page_is_scraped_summed_over_engines_and_stored() -> None:
    rows: list[SQLModel] = []
    observer = _observer(page=lambda request: httpx.Response(200, content=PAGE), rows=rows)

    await observer.look()

    assert observer.peak_running == 7.0
    assert [row.value for row in rows if isinstance(row, MetricSampleRow)] == [3.0, 4.0]
    assert any(isinstance(row, RawRow) and row.kind == RawKind.SCRAPE for row in rows)


DYNAMO_PAGES = {
    "frontend": b'dynamo_frontend_inflight_requests{model="m"} 8\n',
    "prefill": b"dynamo_component_inflight_requests 2\n",
    "decode": b"dynamo_component_inflight_requests 7\n",
}
DYNAMO_ROLES = {
    "frontend": ServiceRole.ROUTER,
    "prefill": ServiceRole.PREFILL,
    "decode": ServiceRole.DECODE,
}


@pytest.mark.parametrize(
    ("saying", "peak"),
    [
        ({"frontend", "prefill", "decode"}, 7.0),
        ({"frontend", "prefill"}, 8.0),
        ({"prefill"}, 2.0),
        (set(), None),
    ],
)
async def test_a_request_in_a_router_and_in_both_its_workers_is_one_that_runs(
    saying: set[str], peak: float | None
) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        name = request.url.host
        return httpx.Response(200, content=DYNAMO_PAGES[name] if name in saying else b"")

    observer = _observer(
        page=page,
        services=[
            ObservedService(name, f"http://{name}/metrics", None, role=role)
            for name, role in DYNAMO_ROLES.items()
        ],
    )

    await observer.look()

    assert observer.peak_running == peak


@pytest.mark.parametrize(
    "answer", [httpx.Response(503), httpx.Response(200, content=b"<html>no metrics</html>")]
)
async def test_a_page_that_is_none_leaves_a_gap_and_no_zero(answer: httpx.Response) -> None:
    rows: list[SQLModel] = []
    observer = _observer(page=lambda request: answer, rows=rows)

    await observer.look()

    assert (rows, observer.peak_running, observer.pages()) == ([], None, {"server": None})


async def test_a_store_that_fails_is_not_passed_over() -> None:
    def fail(rows: Sequence[SQLModel]) -> None:
        raise RuntimeError("the recorder has failed")

    observer = _observer(Written(STATUS))
    observer.sink = fail

    with pytest.raises(RuntimeError, match="the recorder has failed"):
        await observer.look()


@dataclass
class _Row:
    row: SQLModel

    @property
    def is_raw(self) -> bool:
        return isinstance(self.row, RawRow)

    def content_of(self) -> bytes:
        assert isinstance(self.row, RawRow)
        return decompress(self.row.content)
