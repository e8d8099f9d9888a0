"""Reads the status lines that engines write while they work; says whether tokens were made."""

import re
from dataclasses import dataclass

from runner.observe.log_records import LogRecord

# Fields are read by name, since the set of them moves between releases.
_FIELD = re.compile(r"(?:^|, )(#?[A-Za-z][\w ./()\-]{0,40}?): (-?[\d.]+)%?(?=,|$| )")
_LONGEST = 4_000  # a status line is shorter; some patterns would try a longer one again and again
_SGLANG = re.compile(r"(Prefill|Decode) batch(?: \[\d+\])?[,.] ")
_VLLM = re.compile(
    r"(?:(?P<engine>Engine \d+): )?Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, "
    r"Avg generation throughput: (?P<generation>[\d.]+) tokens/s, Running: (?P<running>\d+) reqs, "
    r"(?:Swapped: \d+ reqs, )?(?:Waiting|Pending): (?P<waiting>\d+) reqs"
    r"(?:, Deferred: (?P<deferred>\d+) reqs)?"
)
# TensorRT-LLM's iteration log, and llama.cpp's account of an answer.
_TENSORRT = re.compile(
    r"iter = \d+.*?num_scheduled_requests: (?P<running>\d+).*?"
    r"'num_generation_tokens': (?P<tokens>\d+)"
)
_LLAMA = re.compile(r"(?:slot +print_timing: .*?|\s*)(?:prompt )?eval time = +[\d.]+ ms / +(\d+) ")


@dataclass(frozen=True, slots=True)
class BatchLine:
    """`rate`: tokens in a second, or a token count where the line gives no rate."""

    record: LogRecord
    engine: str
    phase: str
    rate: float
    running: float | None = None
    waiting: float | None = None
    queues: tuple[tuple[str, float, str, float], ...] = ()  # (queue, size, the one behind, size)
    token_usage: float | None = None

    @property
    def has_progress(self) -> bool:
        return self.rate > 0

    @property
    def is_zero_with_work(self) -> bool:
        """The shape of a vLLM that stands still; SGLang writes no line then."""
        return self.phase == "interval" and self.rate == 0 and bool(self.running or self.waiting)


def read_batch_line(record: LogRecord) -> BatchLine | None:
    """None for a record that is no status line."""
    text = record.lines[0][:_LONGEST]
    if found := _VLLM.match(text):
        return BatchLine(
            record,
            found["engine"] or "",
            "interval",
            rate=float(found["generation"]) + float(found["prompt"]),
            running=float(found["running"]),
            # Deferred requests wait for pages of another instance.
            waiting=float(found["waiting"]) + float(found["deferred"] or 0),
        )
    if found := _SGLANG.match(text):
        return _sglang(record, found[1], text[found.end() :])
    if found := _TENSORRT.match(text):
        running, tokens = float(found["running"]), float(found["tokens"])
        return BatchLine(record, " ".join(record.ranks), "decode", tokens or running, running)
    if found := _LLAMA.match(text):
        return BatchLine(record, "", "decode", float(found[1]))
    return None


_QUEUES = (("#transfer-req", "#prealloc-req"), ("#inflight-req", "#bootstrap-req"))


def _sglang(record: LogRecord, phase: str, rest: str) -> BatchLine:
    fields = {name: _number(value) for name, value in _FIELD.findall(rest)}
    rate = fields.get("gen throughput (token/s)", fields.get("input throughput (token/s)", 0.0))
    return BatchLine(
        record,
        " ".join(record.ranks),
        phase.lower(),
        # A prefill line stands for a batch that was computed, whatever its rate says.
        rate=rate or (fields.get("#new-token", 0.0) if phase == "Prefill" else 0.0),
        running=fields.get("#running-req"),
        waiting=fields.get("#queue-req"),
        queues=tuple(
            (queue, fields[queue], behind, fields.get(behind, 0.0))
            for queue, behind in _QUEUES
            if queue in fields
        ),
        token_usage=fields.get("token usage"),
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # 1.2.3
        return 0.0
