"""A large log is scanned, not read line by line; what is found must be the same."""

from io import BytesIO

from hypothesis import given, settings
from hypothesis import strategies as st

from runner.observe import log_scan
from runner.observe.literal_filter import LiteralFilter
from runner.observe.log_reading import LogReading
from runner.observe.log_scan import scan_log
from tests.runner.observe.catalogue import CATALOGUE, read
from tests.runner.observe.test_log_reading import DECODE, GONE, WAITING, vllm


def _ordinary(count: int, *, start: int = 0) -> str:
    return "".join(
        f"[2026-04-09 {at // 3600 % 24:02d}:{at // 60 % 60:02d}:{at % 60:02d} TP0] "
        f"{DECODE.format(rate=at % 900)}\n"
        f'[2026-04-09 18:00:00] INFO:     10.0.0.7:{at} - "POST /v1/chat/completions HTTP/1.1"'
        " 200 OK\n"
        for at in range(start, start + count)
    )


def _scanned(log: str) -> LogReading:
    assert len(log) > log_scan.SMALL_LOG_BYTES
    return scan_log(BytesIO(log.encode()), CATALOGUE, own=None, year=2026)


def _summary(reading: LogReading) -> list[tuple[object, ...]]:
    return [
        (each.kind, str(each.event_class), each.count, each.lines, each.requests, each.first_number)
        for each in reading.findings
        if each.kind != "recovered"
    ]


TRACEBACK = "".join(
    f"(EngineCore pid=311) ERROR 08-12 14:05:02 [core.py:1138] {text}\n"
    for text in (
        "EngineCore encountered a fatal error.",
        "Traceback (most recent call last):",
        '  File "x.py", line 1, in f',
        "TimeoutError: RPC call to sample_tokens timed out.",
    )
)
BARE_TRACEBACK = (
    f'{GONE.format(rid="r1")}\nTraceback (most recent call last):\n  File "x.py", line 1\n'
    "ValueError: Request is disconnected from the client side (type 3). Abort request "
    "obj.rid='r1'\n"
)


def test_a_large_log_is_read_as_a_small_one_would_be() -> None:
    events = [
        *(WAITING.format(rank=rank, rid="abc", room=7) + "\n" for rank in range(4)),
        TRACEBACK,
        BARE_TRACEBACK,
        "\x1b[31m[2026-04-09 18:00:00] SIGQUIT received. signum=None\x1b[0m\n",
    ]
    log = "".join(_ordinary(3000, start=3000 * at) + event for at, event in enumerate(events))
    log += _ordinary(3000, start=21_000)

    scanned, whole = _scanned(log), read(log)

    assert _summary(scanned) == _summary(whole)
    assert (scanned.verdict, scanned.lines) == (whole.verdict, whole.lines)


def test_a_silent_engine_is_found_in_a_large_log() -> None:
    working = [vllm(f"11:{at // 60 % 60:02d}:{at % 60:02d}", 9, 2, "000") for at in range(3000)]
    stuck = vllm("11:05:00", 0, 4, "001")
    healthy = vllm("11:06:00", 5, 4, "001")
    log = "\n".join([*working, stuck, *working * 2, healthy, *working, stuck, *working * 2]) + "\n"

    kinds = {(each.kind, str(each.event_class)) for each in _scanned(log).findings}

    assert ("zero_throughput_with_running", "slow") in kinds


def test_a_log_without_any_newline_is_read_in_bounded_pieces() -> None:
    log = BytesIO(b"x" * (40 * 1024 * 1024))

    assert scan_log(log, CATALOGUE, own=None, year=2026).verdict == "benign"


def test_a_log_in_an_envelope_is_read_line_by_line() -> None:
    line = (
        '{"__REALTIME_TIMESTAMP": "1777960174000001", "SYSLOG_IDENTIFIER": "sglang", '
        f'"MESSAGE": {list(WAITING.format(rank=0, rid="a", room=1).encode())}}}\n'
    )
    filler = '{"__REALTIME_TIMESTAMP": "1777960174000001", "MESSAGE": "nothing"}\n' * 40_000

    reading = _scanned(filler + line)

    assert [each.kind for each in reading.findings] == ["kv_wait_timeout"]


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["needle-one", "another needle", "x", "needle-on", " ", "é", "\n"])),
    st.integers(0, 3),
)
def test_the_filter_finds_every_line_that_holds_a_text(words: list[str], shift: int) -> None:
    import numpy as np

    content = ("." * shift + "".join(words) + "\n").encode()
    ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == 10)
    texts = ["needle-one", "another needle"]

    found = LiteralFilter(texts, sample=content).lines_in(content, ends)

    expected = [
        number
        for number, line in enumerate(content.split(b"\n")[:-1])
        if any(text.encode() in line for text in texts)
    ]
    assert found == expected
