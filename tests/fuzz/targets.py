"""What is fuzzed: each target takes bytes, and raises where a promise of the readers is broken.

The first bytes of an input choose how the rest is cut and what stands around it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite

from db.vocabulary import Outcome, TransportEnd
from runner.judge.event_stream import EventStreamDecoder, ServerSentEvent
from runner.judge.record import ToolSpec, TurnContext, TurnRecord
from runner.judge.turn_reading import judge_turn
from runner.observe.engine_readings import PageReading, read_page
from runner.observe.exposition import read_exposition
from runner.observe.log_reading import read_log
from runner.observe.log_records import LogNormalizer, LogRecord, RecordList
from runner.observe.metric_dialects import dialect_of
from runner.observe.scrape import counter_total, kept_samples, running_requests
from runner.observe.scrape_verdict import Interval, judge_page
from runner.observe.service_log import LookBudget, ServiceLog
from tests.runner.observe.catalogue import CATALOGUE

YEAR = 2026
TOOLS = (
    ToolSpec("get_weather", {"city": "string", "days": "integer"}, ("city",)),
    ToolSpec("read_file", {"path": "string"}, ("path",)),
)
_ENDS = list(TransportEnd)
_SMALL_EVENT_BYTES = 64
_CONTENT_TYPES = ("", "text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0")
_BETWEEN_PAGES = b"\x00"


def event_stream(data: bytes) -> None:
    """Events do not depend on where the reads were cut, and none is longer than its limit."""
    size, body = _chosen(data)
    whole = _decoded([body])
    assert _decoded(_pieces(body, size + 1)) == whole
    small = EventStreamDecoder(max_event_bytes=_SMALL_EVENT_BYTES)
    for event in [*small.feed(body), *small.close()]:
        assert len(event.data.encode("utf-8")) <= 3 * _SMALL_EVENT_BYTES  # U+FFFD takes three


def judged_answer(data: bytes) -> None:
    """Every answer has an outcome that fits its reading, and a message that can be stored."""
    choice, body = _chosen(data)
    record = TurnRecord(
        stream=choice % 2 == 0,
        http_status=(200, 500, None)[choice // 2 % 3],
        content_type=("", "text/event-stream", "application/json")[choice // 6 % 3],
        transport_end=_ENDS[choice // 18 % len(_ENDS)],
        body=body,
        ended_s=1.0,
    )
    turn = judge_turn(record, TurnContext(tools=TOOLS, tool_expected=choice % 5 > 0))
    assert turn.detail.endswith(".")
    assert (turn.reason is not None) == (turn.outcome is Outcome.ERROR)
    json.dumps(turn.message.to_json(), allow_nan=False).encode("utf-8")
    turn.detail.encode("utf-8")


def metrics_page(data: bytes) -> None:
    """Two pages in a row are judged; whatever they say, the values that are kept are numbers."""
    choice, body = _chosen(data)
    first, _, second = body.partition(_BETWEEN_PAGES)
    content_type = _CONTENT_TYPES[choice % len(_CONTENT_TYPES)]
    before, now = _page(first, content_type), _page(second or first, content_type)
    in_flight = choice // 3 % 4
    for interval in (None, before and Interval(before=before, elapsed_s=2.0, in_flight=in_flight)):
        verdict = judge_page(now, interval, in_flight=in_flight)
        json.dumps({str(role): value for role, value in verdict.values.items()}, allow_nan=False)
        verdict.why.encode("utf-8")


def service_log(data: bytes) -> None:
    """Records do not depend on where the reads were cut, and each line is counted once."""
    size, body = _chosen(data)
    records = RecordList.of(body, year=YEAR).records
    lines = body.count(b"\n") + (bool(body) and not body.endswith(b"\n"))
    assert sum(record.physical_lines for record in records) <= lines
    normalizer = LogNormalizer(year=YEAR)
    in_pieces = [each for piece in _pieces(body, size + 1) for each in normalizer.feed(piece)]
    assert _in_order([*in_pieces, *normalizer.close()]) == _in_order(records)
    json.dumps(read_log(records, CATALOGUE).to_json(), allow_nan=False).encode("utf-8")


def followed_log(data: bytes) -> None:
    """What is skimmed in looks of bounded work has the events of what is read as a whole."""
    size, body = _chosen(data)
    source = _Pieces(list(_pieces(body, 64 * (size + 1))))
    budget = LookBudget(read_bytes=4096, parsed_bytes=1024)
    log = ServiceLog(source, CATALOGUE, YEAR, budget)
    events = 0
    while (news := log.look()).content or news.behind_bytes:
        events += len(news.events)
    events += len(log.look(is_last=True).events)
    assert events <= len(body)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "event_stream": event_stream,
    "judged_answer": judged_answer,
    "metrics_page": metrics_page,
    "service_log": service_log,
    "followed_log": followed_log,
}


class _Pieces:
    """A log that comes in these pieces."""

    trouble: str | None = None

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def read_new(self, limit_bytes: int = 0) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def behind_bytes(self) -> int:
        return sum(map(len, self._pieces))

    def close(self) -> None:
        self._pieces.clear()


def _chosen(data: bytes) -> tuple[int, bytes]:
    return (data[0], data[1:]) if data else (0, b"")


def _pieces(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


def _decoded(pieces: Iterator[bytes] | list[bytes]) -> list[ServerSentEvent]:
    decoder = EventStreamDecoder()
    return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]


def _page(body: bytes, content_type: str) -> PageReading | None:
    try:
        samples = read_exposition(body, content_type=content_type)
    except ValueError:
        return None
    assert all(isfinite(sample.value) for sample in samples)
    kept_samples(samples)
    totals = [
        running_requests(samples),
        counter_total(samples, "sglang:cached_tokens_total", labels={}),
    ]
    assert all(isfinite(total) for total in totals if total is not None)
    dialect = dialect_of(samples)
    return read_page(samples, dialect) if dialect is not None else None


def _in_order(records: list[LogRecord]) -> list[LogRecord]:
    return sorted(records, key=lambda record: (record.number, record.lines))
