"""A log that brings more than one look may take apart: nothing is lost, and the lag is known."""

from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from runner.observe.log_events import LogEvent, events_in
from runner.observe.log_records import RecordList
from runner.observe.service_log import LogNews, LookBudget, ServiceLog
from tests.runner.observe.catalogue import CATALOGUE
from tests.runner.observe.test_log_reading import WAITING

SMALL = LookBudget(read_bytes=1024 * 1024, parsed_bytes=16 * 1024)
STATUS = (
    b"[2026-08-22 09:15:02 DP0 TP0] Decode batch, #running-req: 21, #token: 1450112, token usage: "
    b"0.63, cuda graph: True, gen throughput (token/s): 812.44, #queue-req: 0\n"
)
TRACEBACK = (
    b"[2026-08-22 09:15:03 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
    b'  File "scheduler.py", line 3, in run\n'
    b"    self.step()\n"
    b"RuntimeError: CUDA error\n"
)


@dataclass
class Written:
    """A log of which everything was written at once."""

    content: bytes
    trouble: str | None = None
    read: list[int] = field(default_factory=list)

    def read_new(self, limit_bytes: int) -> bytes:
        piece, self.content = self.content[:limit_bytes], self.content[limit_bytes:]
        self.read.append(len(piece))
        return piece

    def behind_bytes(self) -> int:
        return len(self.content)

    def close(self) -> None:
        pass


def waiting_line(number: int) -> bytes:
    return (WAITING.format(rank=0, rid=f"rid{number}", room=number) + "\n").encode()


def _looked_to_the_end(log: ServiceLog) -> list[LogNews]:
    looks = [log.look(is_last=True)]
    while looks[-1].behind_bytes:
        looks.append(log.look(is_last=True))
    return looks


def _events(looks: list[LogNews]) -> list[LogEvent]:
    return [event for look in looks for event in look.events]


def test_a_burst_of_status_lines_is_kept_whole_and_its_three_events_are_found() -> None:
    block = STATUS * 4_000
    content = block.join([waiting_line(1), waiting_line(2), TRACEBACK, b""]) + block
    source = Written(content)

    budget = LookBudget(read_bytes=1024 * 1024)

    looks = _looked_to_the_end(ServiceLog(source, CATALOGUE, 2026, budget))

    assert len(content) > 2 * budget.read_bytes
    assert b"".join(look.content for look in looks) == content
    assert [event.id for event in _events(looks)] == [
        "kv_wait_timeout",
        "kv_wait_timeout",
        "scheduler_exception",
    ]


def test_a_burst_of_event_lines_is_taken_apart_a_bounded_piece_at_a_look() -> None:
    content = b"".join(waiting_line(number) for number in range(800))
    log = ServiceLog(Written(content), CATALOGUE, 2026, SMALL)

    looks = _looked_to_the_end(log)

    assert len(looks) >= len(content) // SMALL.parsed_bytes
    assert looks[0].behind_bytes >= len(content) - 2 * SMALL.parsed_bytes
    assert [look.behind_bytes for look in looks] == sorted(
        (look.behind_bytes for look in looks), reverse=True
    )
    assert {event.requests[0] for event in _events(looks)} == {f"rid{n}" for n in range(800)}


def test_nothing_more_is_read_while_earlier_bytes_wait() -> None:
    source = Written(b"".join(waiting_line(number) for number in range(400)))
    log = ServiceLog(source, CATALOGUE, 2026, SMALL)

    log.look()
    log.look()

    assert len(source.read) == 1


ENGINE_ERROR = (
    b"(Engine_0 pid=7) ERROR 08-22 09:15:03 [core.py:7] EngineCore hit an exception\n"
    b"(Engine_0 pid=7) ERROR 08-22 09:15:03 [core.py:7] Traceback (most recent call last):\n"
    b"(Engine_0 pid=7) ERROR 08-22 09:15:03 [core.py:7]   File x\n"
    b"(Engine_0 pid=7) ERROR 08-22 09:15:03 [core.py:7] RuntimeError: no\n"
)
PARTS = {
    "a burst of statuses": STATUS * 400,
    "a status": STATUS,
    "a wait": waiting_line(1),
    "another wait": waiting_line(2),
    "a coloured wait": b"\x1b[31m" + waiting_line(3).rstrip() + b"\x1b[0m\n",
    "a traceback": TRACEBACK,
    "an engine's error": ENGINE_ERROR,
    "an indented line": b"    a line that belongs to the one before\n",
    "an empty line": b"\n",
}


@given(st.lists(st.sampled_from(sorted(PARTS)), max_size=14), st.booleans())
@example(
    ["an engine's error", "an indented line", "a burst of statuses", "an engine's error"], False
)
@settings(max_examples=25, deadline=None)
def test_a_skimmed_piece_shows_the_events_that_reading_every_line_shows(
    parts: list[str], has_no_end: bool
) -> None:
    content = b"".join(PARTS[part] for part in parts).removesuffix(b"\n" if has_no_end else b"")

    looks = _looked_to_the_end(ServiceLog(Written(content), CATALOGUE, 2026))

    every = [
        (event.id, event.requests, event.line)
        for record in RecordList.of(content, year=2026).records
        for event in events_in(record, CATALOGUE)
    ]
    assert sorted((e.id, e.requests, e.line) for e in _events(looks)) == sorted(every)


def test_the_tail_is_of_all_that_was_read(tmp_path: Path) -> None:
    log = ServiceLog(Written(STATUS * 3_000 + b"the last line\n"), CATALOGUE, 2026)

    log.look()

    assert log.tail().endswith(b"the last line\n")
