"""How the time to read an input grows with its size, over texts that are made to be slow.

python -m tests.fuzz.growth [KILOBYTES]

Each text is read at a size and at 8 times that; the exponent is the slope of the logarithms: 1 is
linear, 2 quadratic. Processor time is measured, the best of three.
"""

import sys
import time
from collections.abc import Callable, Mapping
from math import log2

from tests.fuzz.targets import TARGETS

DEFAULT_KB = 32
STEEPEST = 1.5
"""Above what caches and allocation make of a linear reader, far below a quadratic one."""

_CHUNK = b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n'
_CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"name":"get_weather",'
    b'"arguments":"{"}}]}}]}\n\n'
)


def _of(piece: bytes) -> Callable[[int], bytes]:
    return lambda size: piece * (size // len(piece))


def _answer_of(piece: bytes) -> Callable[[int], bytes]:
    """One content of the piece again and again, in one event."""
    return lambda size: _CHUNK % (piece * (size // len(piece)))


def _calls(size: int) -> bytes:
    return b"".join(_CALL % number for number in range(size // len(_CALL)))


def _deep(size: int) -> bytes:
    return b"data: " + b"[" * (size // 2) + b"]" * (size // 2) + b"\n\n"


def _markup_of(piece: str) -> Callable[[int], bytes]:
    return _answer_of(piece.encode())


def _after_line_of(prefix: bytes, piece: bytes) -> Callable[[int], bytes]:
    return lambda size: prefix + piece * (size // len(piece)) + b"\n"


SHAPES: Mapping[str, Mapping[str, Callable[[int], bytes]]] = {
    "event_stream": {
        "empty data": _of(b"data:\n"),
        "carriage returns": _of(b"\r"),
        "one line": _of(b"x"),
        "tiny events": _of(b"data:x\n\n"),
        "comments": _of(b":\n"),
    },
    "judged_answer": {
        "one content": _answer_of(b"abc "),
        "open brackets": _answer_of(b"<"),
        "open calls": _markup_of("<tool_call>"),
        "open DSML": _markup_of("<｜DSML｜invoke name="),
        "braces": _answer_of(b"{"),
        "quotes": _answer_of(b'\\"'),
        "fences": _answer_of(b"```\\n"),
        "call words": _answer_of(b'{\\"name\\": '),
        "half calls": _markup_of("<function=get_weather"),
        "one-letter chunks": _of(_CHUNK % b"a"),
        "tool calls": _calls,
        "nested": _deep,
        "a repeated word": _answer_of(b"the "),
    },
    "metrics_page": {
        "series": _of(b'sglang:num_running_reqs{dp_rank="1"} 1\n'),
        "labels": _after_line_of(b"sglang:num_running_reqs{", b'a="1",'),
        "open quotes": _after_line_of(b'sglang:num_running_reqs{a="', b'\\"'),
        "help": _of(b"# HELP a b\n"),
        "broken lines": _of(b"a{ 1\n"),
    },
    "service_log": {
        "aborts": _of(
            b"[2026-08-22 09:15:02 TP0] Prefill bootstrap failed for request rank=0 "
            b"req.rid='1' req.bootstrap_room=1 with exception KVTransferError(): Aborted.\n"
        ),
        "status lines": _of(
            b"[2026-08-22 09:15:02 TP0] Decode batch, #running-req: 21, #token: 14, token usage: "
            b"0.63, cuda graph: True, gen throughput (token/s): 812.44, #queue-req: 0\n"
        ),
        "one line": _of(b"x"),
        "escapes": _of(b"\x1b["),
        "carriage returns": _of(b"x\r"),
        "frames": _of(b"Traceback (most recent call last):\n  File\n"),
        "journal bytes": lambda size: b'{"MESSAGE": [' + b"104," * (size // 4) + b"104]}\n",
        "docker's halves": _of(b'{"log":"x","stream":"stdout"}\n'),
        "ids": _after_line_of(b"Decode transfer failed for request ", b"req.rid='a' "),
        "stamps": _after_line_of(b"", b"[2026-08-22 09:15:02 TP0] "),
    },
}


ALSO_FOLLOWED = "service_log"
"""The texts of this reader are read as a log that is followed, too."""


def main() -> int:
    """0 where nothing grows faster than a linear reader may."""
    size = 1024 * (int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_KB)
    sys.stdout.write(f"| reader | text | {size // 1024} KiB | 8 times as much | exponent |\n")
    sys.stdout.write("|---|---|---|---|---|\n")
    steepest = 0.0
    for reader, shapes in {**SHAPES, "followed_log": SHAPES[ALSO_FOLLOWED]}.items():
        for shape, make in shapes.items():
            first_s, last_s = (_seconds(reader, make(factor * size)) for factor in (1, 8))
            exponent = log2(last_s / first_s) / 3
            steepest = max(steepest, exponent)
            cells = f"{first_s * 1e3:.1f} ms | {last_s * 1e3:.1f} ms | {exponent:.2f}"
            sys.stdout.write(f"| {reader} | {shape} | {cells} |\n")
            sys.stdout.flush()
    return 0 if steepest < STEEPEST else 1


def _seconds(reader: str, content: bytes) -> float:
    """Of the processor, with long reads."""
    take, data = TARGETS[reader], b"\xff" + content
    taken: list[float] = []
    for _ in range(3):
        began_s = time.process_time()
        take(data)
        taken.append(time.process_time() - began_s)
    return max(1e-6, min(taken))


if __name__ == "__main__":
    raise SystemExit(main())
