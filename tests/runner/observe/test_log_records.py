"""Whatever stands in a log, it becomes records, and no line is lost on the way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.observe.log_records import MAX_LINE_BYTES, MAX_OPEN_RECORDS, LogNormalizer, RecordList
from tests.runner.observe.catalogue import records

HEALTH = "Health check failed. Server couldn't get a response"
SGLANG = f"[2026-05-05 05:49:34 DP1 TP3] {HEALTH}"

_LINES = st.one_of(
    st.binary(max_size=60).filter(lambda line: b"\n" not in line),
    st.sampled_from(
        [
            SGLANG.encode(),
            b"Traceback (most recent call last):",
            b'  File "x.py", line 1',
            b"ValueError: no",
            b"",
            b"\x1b[31mERROR\x1b[0m 08-03 16:07:41 [a.py:1] x",
            b"(EngineCore pid=3) ERROR 08-12 14:05:02 [core.py:1138] Traceback (most recent call",
            b"2026-09-11T08:44:00.000000000Z stderr P half",
            b"2026-09-11T08:44:00.000000100Z stderr F whole",
            b"2026-09-11T08:44:00.000000100Z stdout F other",
            b'{"log": "no end", "stream": "stdout", "time": "2026-09-11T08:44:00Z"}',
            b'{"log": "an end\\n", "stream": "stdout"}',
            b'{"__REALTIME_TIMESTAMP": "17", "MESSAGE": [104, 105, 255]}',
            b'{"__REALTIME_TIMESTAMP": "17", "MESSAGE": null}',
            b'{"MESSAGE": ["a", "b"], "__REALTIME_TIMESTAMP": "9"}',
            b'{"message": "a\\nb", "levelname": "ERROR", "asctime": "2026-08-03 16:07:41,101"}',
            b"a-1  | a-1  | a-1  | nested",
            b"\xff\xfe[2026-04-11 10:06:20] x",
            b"  5%\r 50%\r100%",
            b"[2026-02-31 99:99:99] no such day",
        ]
    ),
)


@given(st.lists(_LINES, max_size=25), st.booleans(), st.integers(1, 40))
def test_every_line_is_in_exactly_one_record_however_the_bytes_are_cut(
    lines: list[bytes], ends_with_newline: bool, step: int
) -> None:
    content = b"\n".join(lines) + (b"\n" if ends_with_newline and lines else b"")
    expected = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))

    whole = RecordList.of(content, year=2026).records
    normalizer = LogNormalizer(year=2026)
    pieces = [content[at : at + step] for at in range(0, len(content), step)]
    in_pieces = [record for piece in pieces for record in normalizer.feed(piece)]
    in_pieces += normalizer.close()

    assert sum(record.physical_lines for record in whole) == expected
    assert sorted(in_pieces, key=lambda record: record.number) == whole


def test_colour_codes_stand_nowhere_in_a_record() -> None:
    (record,) = records(
        "\x1b[1;36m(Worker_DP6_EP6 pid=3)\x1b[0;0m \x1b[31mERROR\x1b[0m \x1b[90m08-03 16:07:41\x1b"
        "[0m \x1b[90m[moo.py:18]\x1b[0m pulling"
    )

    assert (record.lines, record.process, record.level) == (("pulling",), "Worker_DP6_EP6", "ERROR")
    assert record.ranks == ("DP6", "EP6")


@pytest.mark.parametrize(
    ("line", "text", "ranks"),
    [
        (SGLANG, HEALTH, ("DP1", "TP3")),
        ("[2026-05-05 05:49:34.123 TP0] x", "x", ("TP0",)),
        ('[2026-05-05 05:49:34] INFO:     1.2.3.4:5 - "GET', '1.2.3.4:5 - "GET', ()),
        ("(Worker_TP1 pid=9) WARNING 08-19 05:31:40 [worker.py:2951] x", "x", ("TP1",)),
        ("INFO 02-03 06:41:15 llm_engine.py:921] x", "x", ()),
        ("[06/30/2026-12:00:00] [TRT-LLM] [RANK 2] [E] x", "x", ("RANK2",)),
        ("[rank3]:[E612 12:00:00.123456789 ProcessGroupNCCL.cpp:629] x", "x", ("RANK3",)),
        ("2026-08-12T10:00:00.123456Z ERROR dynamo_runtime::http: x", "x", ()),
        ("2026-08-12 10:00:00,123 - sglang.srt - ERROR - x", "x", ()),
        ("2026-08-12 10:00:00 | INFO | x", "x", ()),
    ],
)
def test_the_prefixes_of_known_loggers_are_taken_off(
    line: str, text: str, ranks: tuple[str, ...]
) -> None:
    (record,) = records(line)

    assert record.lines == (text,)
    assert record.ranks == ranks
    assert record.own_s is not None


@pytest.mark.parametrize(
    "line",
    [
        f"2026-05-05T07:49:34+0200 gpu-a sglang[4120]: {SGLANG}",
        f"May  5 05:49:34 gpu-a sglang[4120]: {SGLANG}",
        f"2026-05-05T05:49:34.000000000Z stderr F {SGLANG}",
        f"2026-05-05T05:49:34.000000000Z {SGLANG}",
        f"server-1  | {SGLANG}",
        f"[pod/llm-0/server] {SGLANG}",
        json.dumps({"log": SGLANG + "\n", "stream": "stderr", "time": "2026-05-05T05:49:34Z"}),
        json.dumps({"__REALTIME_TIMESTAMP": "1777960174000001", "MESSAGE": SGLANG}),
        json.dumps({"__REALTIME_TIMESTAMP": "1777960174000001", "MESSAGE": list(SGLANG.encode())}),
        f"\ufeff{SGLANG}\r",
    ],
)
def test_one_line_is_the_same_in_every_envelope(line: str) -> None:
    (record,) = records(line)

    assert record.lines == (HEALTH,)
    assert record.ranks == ("DP1", "TP3")
    assert record.own_s == 1777960174.0
    assert record.at_s is not None and abs(record.at_s - 1777960174) < 0.01


def test_a_line_that_docker_cut_in_two_is_one_again() -> None:
    pieces = [
        json.dumps({"log": SGLANG[:30], "stream": "stdout", "time": "2026-05-05T05:49:34Z"}),
        json.dumps({"log": "[2026-05-05 05:49:34] other\n", "stream": "stderr"}),
        json.dumps({"log": SGLANG[30:] + "\n", "stream": "stdout"}),
    ]

    found = records("\n".join(pieces))

    assert sorted(record.lines[0] for record in found) == [HEALTH, "other"]


def test_a_traceback_is_one_record_with_its_first_line_whoever_prints_the_prefix() -> None:
    prefix = "(EngineCore pid=311) ERROR 08-12 14:05:02 [core.py:1138] "
    frames = [
        "boom",
        "Traceback (most recent call last):",
        '  File "a.py", line 1',
        "KeyError: 'x'",
    ]
    bare = "\n".join([prefix + frames[0], *frames[1:]])

    (repeated,) = records("\n".join(prefix + frame for frame in frames))
    (once,) = records(bare)

    assert repeated.lines == once.lines == tuple(frames)


def test_two_lines_with_the_same_prefix_are_two_records() -> None:
    line = "(Worker_TP0 pid=9) ERROR 08-12 14:05:02 [moo.py:18] pulling ['a'] failed"

    assert len(records(f"{line}\n{line}")) == 2


def test_a_second_error_of_the_same_moment_is_a_record_of_its_own() -> None:
    first, second = ["Traceback (most recent call last):", "  File x", "ValueError: 2 faults"], "no"
    lines = [*first, "  of a field", "", second]

    found = records("\n".join(f"ERROR 08-12 14:05:02 [core.py:9] {line}" for line in lines))

    assert [record.lines for record in found] == [(*first, "  of a field"), (second,)]


def test_tracebacks_of_two_processes_that_interleave_stay_apart() -> None:
    one, two = (f"({name} pid=1) ERROR 08-12 14:05:02 [x.py:1] " for name in ("EngineCore", "API"))

    found = records(
        f"{one}boom\n{two}bang\n{one}Traceback (most recent call last):\n"
        f"{two}Traceback (most recent call last):\n{one}  File a\n{one}KeyError: 'x'\n{two}OSError"
    )

    assert [(record.process, record.lines[-1]) for record in found] == [
        ("EngineCore", "KeyError: 'x'"),
        ("API", "OSError"),
    ]


def test_what_a_logger_writes_behind_a_progress_bar_is_kept() -> None:
    found = records(f"load:  5%\rload: 50%\r{SGLANG}")

    assert found[-1].lines == (HEALTH,)


def test_a_line_without_an_end_is_read_when_the_log_is_closed() -> None:
    normalizer = LogNormalizer(year=2026)

    assert normalizer.feed(SGLANG.encode()) == []
    assert [record.lines for record in normalizer.close()] == [(HEALTH,)]


def test_an_endless_line_is_cut_and_marked_and_the_next_one_is_read() -> None:
    normalizer = LogNormalizer(year=2026)
    for _ in range(4):
        normalizer.feed(b"x" * MAX_LINE_BYTES)
    found = normalizer.feed(f"\n{SGLANG}\n".encode()) + normalizer.close()

    assert [(len(record.lines[0]), record.is_cut) for record in found] == [
        (MAX_LINE_BYTES, True),
        (len(HEALTH), False),
    ]


def test_half_a_character_in_json_can_be_stored_afterwards() -> None:
    (record,) = records('{"message": "cut \\ud83d", "level": "error"}')

    assert record.text.encode("utf-8")


def test_deeply_nested_json_is_a_line_like_any_other() -> None:
    (record,) = records("[" * 100_000 + "]" * 100_000)

    assert record.physical_lines == 1


@pytest.mark.parametrize(
    "line",
    [
        '{"message": "boom", "timestamp": 1' + "0" * 400 + "}",
        '{"message": "boom", "timestamp": NaN}',
        '{"message": "boom", "timestamp": 1e999}',
        '{"message": "boom", "timestamp": -5}',
        '{"message": "boom", "timestamp": true}',
        '{"MESSAGE": "boom", "__REALTIME_TIMESTAMP": "999999999999999999"}',
        "9999-99-99T99:99:99.9+99:99 stderr F boom",
    ],
)
def test_a_time_that_is_none_is_left_out_and_the_line_is_read(line: str) -> None:
    (record,) = records(line)

    assert (record.text, record.at_s, record.own_s) == ("boom", None, None)


@pytest.mark.parametrize(
    "message",
    ['"cut \\ud83d"', '["cut \\ud83d"]', "[" * 900 + '"deep"' + "]" * 900, '[[98, 111], "om", 7]'],
)
def test_whatever_stands_in_the_message_of_a_journal_can_be_stored(message: str) -> None:
    found = records('{"MESSAGE": ' + message + ', "_PID": "\\udc80"}')

    assert found
    assert all((each.text + each.source).encode("utf-8") is not None for each in found)


def test_lines_without_an_end_of_ever_more_writers_take_bounded_memory() -> None:
    normalizer = LogNormalizer(year=2026)
    begun = (f'{{"log": "begun", "stream": "{number}"}}\n'.encode() for number in range(2_000))

    before_the_end = [record for line in begun for record in normalizer.feed(line)]
    at_the_end = normalizer.close()

    assert len(at_the_end) <= 2 * MAX_OPEN_RECORDS
    assert sum(each.physical_lines for each in (*before_the_end, *at_the_end)) == 2_000
