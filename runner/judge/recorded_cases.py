"""Recorded cases: answers of servers with their right reading, one JSON object a line.

Reads the lines, judges each case and compares. What reads a kind is an argument, since logs and
metrics are not the judge's to read. It opens no file: it takes lines and the name to put before a
line number.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from db.read_times import ReadTimes
from db.vocabulary import TransportEnd, TurnReading
from runner.errors import RecordedCaseError
from runner.judge.call_joining import CallJoiner
from runner.judge.chunk_reading import content_of
from runner.judge.json_values import NOT_JSON, Json, JsonObject, dump_json, parse_json
from runner.judge.record import NAMED_FUNCTION, TurnContext, TurnRecord
from runner.judge.session_outcome import judge_session
from runner.judge.turn_reading import JudgedTurn, judge_turn

KINDS: Final = ("sse", "log", "metrics")


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """One line; `context` and `expect` are as in the file, `content` is decoded."""

    id: str
    kind: str
    content: bytes
    context: JsonObject
    expect: JsonObject
    where: str


@dataclass(frozen=True, slots=True)
class CaseReading:
    """What the judge said of one case, and whether the case agrees."""

    case: RecordedCase
    got: str
    expected: str
    is_right: bool


CaseReader: TypeAlias = Callable[[RecordedCase], CaseReading]
CaseReaders: TypeAlias = Mapping[str, CaseReader]


@dataclass(slots=True)
class CaseComparison:
    """All readings of a file."""

    readings: list[CaseReading] = field(default_factory=list)

    def to_json(self) -> JsonObject:
        """{"sse": {"right", "of"}, "log": ..., "metrics": ..., "differ": [{"id", ...}]}"""
        counts: JsonObject = {kind: self._count(kind) for kind in KINDS}
        differ: list[Json] = [
            {"id": reading.case.id, "got": reading.got, "expected": reading.expected}
            for reading in self.readings
            if not reading.is_right
        ]
        return counts | {"differ": differ}

    def _count(self, kind: str) -> JsonObject:
        answers = [reading.is_right for reading in self.readings if reading.case.kind == kind]
        return {"right": sum(answers), "of": len(answers)}


def compare_cases(
    lines: Iterable[str], *, source: str, readers: CaseReaders | None = None
) -> CaseComparison:
    """Judges every case whose kind has a reader, the answers of servers by default.

    Raises RecordedCaseError for a line that cannot be read.
    """
    comparison = CaseComparison()
    for case in read_cases(lines, source=source):
        read = (readers or STREAM_READERS).get(case.kind)
        if read is not None:
            comparison.readings.append(read(case))
    return comparison


def read_cases(lines: Iterable[str], *, source: str) -> list[RecordedCase]:
    """Empty lines are skipped; ids must differ."""
    cases: list[RecordedCase] = []
    seen: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        case = _read_case(line, where=f"{source}:{number}")
        if case.id in seen:
            raise RecordedCaseError(f"{case.where}: the id {case.id} stands at {seen[case.id]} too")
        seen[case.id] = case.where
        cases.append(case)
    return cases


def turn_of_case(case: RecordedCase) -> tuple[TurnRecord, TurnContext]:
    """The record and the context that an SSE case describes."""
    fields = case.context
    try:
        return _record_of(case), _context_of(fields)
    except ValueError as error:
        raise RecordedCaseError(f"{case.where}: {error} in the case {case.id}") from error


def judge_case(case: RecordedCase) -> JudgedTurn:
    record, context = turn_of_case(case)
    return judge_turn(record, context)


def _read_stream_case(case: RecordedCase) -> CaseReading:
    record, context = turn_of_case(case)
    judged = judge_turn(record, context)
    got, expected = judged.reading.value, str(case.expect["outcome"])
    is_right = got in (expected, *_words(case, "accept")) and got not in _words(case, "never")
    due_session = case.expect.get("session_outcome")
    if due_session is not None:
        limit = context.max_rounds
        session = judge_session(
            [judged],
            reached_end=judged.reading is TurnReading.DONE,
            rounds_limit_hit=limit is not None and context.round_index >= limit,
        )
        got, expected = f"{got}, session {session.outcome}", f"{expected}, session {due_session}"
        is_right = is_right and session.outcome == due_session
    return CaseReading(case, got, expected, is_right)


STREAM_READERS: Final[CaseReaders] = {"sse": _read_stream_case}


def _read_case(line: str, *, where: str) -> RecordedCase:
    value = parse_json(line)
    if value is NOT_JSON:
        raise RecordedCaseError(f"{where}: this line is no JSON; a case is one object a line")
    if not isinstance(value, dict):
        raise RecordedCaseError(f"{where}: a case must be a JSON object")
    kind = _text(value, "kind", where=where)
    if kind not in KINDS:
        raise RecordedCaseError(f"{where}: unknown kind {kind!r}; allowed: {', '.join(KINDS)}")
    case = RecordedCase(
        id=_text(value, "id", where=where),
        kind=kind,
        content=_content(value, where=where),
        context=_object(value, "context", where=where),
        expect=_object(value, "expect", where=where),
        where=where,
    )
    if kind == "sse":
        _check_expectation(case)
    return case


def _check_expectation(case: RecordedCase) -> None:
    outcome = case.expect.get("outcome")
    if outcome not in list(TurnReading):
        allowed = ", ".join(TurnReading)
        raise RecordedCaseError(f"{case.where}: unknown outcome {outcome!r}; allowed: {allowed}")
    for name in ("accept", "never"):
        words = case.expect.get(name, [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise RecordedCaseError(f"{case.where}: {name} must be a list of texts")


def _content(value: JsonObject, *, where: str) -> bytes:
    text = _text(value, "input", where=where)
    encoding = value.get("input_encoding", "utf-8")
    if encoding == "utf-8":
        return text.encode("utf-8", "surrogatepass")
    if encoding != "base64":
        raise RecordedCaseError(
            f"{where}: unknown input_encoding {encoding!r}; allowed: utf-8, base64"
        )
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise RecordedCaseError(f"{where}: input is no base64: {error}") from error


def _record_of(case: RecordedCase) -> TurnRecord:
    fields = case.context
    end = fields.get("transport_end", TransportEnd.CLEAN_EOF)
    if end not in list(TransportEnd):
        allowed = ", ".join(TransportEnd)
        raise ValueError(f"unknown transport_end {end!r}, allowed: {allowed},")
    status = fields.get("http_status")
    if status is not None and (isinstance(status, bool) or not isinstance(status, int)):
        raise ValueError(f"http_status must be a whole number or null, found {status!r},")
    content_type = fields.get("content_type")
    return TurnRecord(
        stream=fields.get("stream") is not False,
        http_status=status,
        content_type=content_type if isinstance(content_type, str) else "",
        transport_end=TransportEnd(end),
        body=case.content,
        reads=_reads_of(fields),
        ended_s=_seconds(fields, "elapsed_s") or _seconds(fields, "deadline_s"),
    )


def _reads_of(fields: JsonObject) -> ReadTimes:
    arrivals = fields.get("arrivals") or []
    if not isinstance(arrivals, list):
        raise ValueError(f"arrivals must be a list, found {arrivals!r},")
    reads: list[tuple[float, int]] = []
    for arrival in arrivals:
        match arrival:
            case [int() | float() as at_s, int() as bytes_so_far]:
                reads.append((float(at_s), bytes_so_far))
            case _:
                raise ValueError(f"an arrival must be [seconds, bytes so far], found {arrival!r},")
    return ReadTimes.of(reads)


def _seconds(fields: JsonObject, name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, found {value!r},")
    return float(value)


def _context_of(fields: JsonObject) -> TurnContext:
    choice = fields.get("tool_choice", "auto")
    return TurnContext.from_json(
        {
            "tools": fields.get("tools"),
            "tool_choice": choice if isinstance(choice, str) else NAMED_FUNCTION,
            "tool_expected": fields.get("tool_expected"),
            "user": fields.get("user", ""),
            "prior": _prior_of(fields),
            "canary": fields.get("canary"),
            "other_canaries": fields.get("other_canaries"),
            "round_index": fields.get("round"),
            "max_rounds": fields.get("max_rounds"),
            "model": fields.get("model"),
        }
    )


def _prior_of(fields: JsonObject) -> list[Json]:
    """`prior` as messages or texts, and `prior_calls` as [name, arguments] pairs."""
    found: list[Json] = []
    prior = fields.get("prior") or []
    for message in prior if isinstance(prior, list) else [prior]:
        if isinstance(message, dict):
            role = message.get("role")
            text = content_of(message) or message.get("text")
            found.append(
                {
                    "role": role if isinstance(role, str) else "tool",
                    "text": text if isinstance(text, str) else "",
                    "calls": _calls_of(message),
                }
            )
        else:
            text = message if isinstance(message, str) else dump_json(message)
            found.append({"role": "tool", "text": text})
    if calls := fields.get("prior_calls"):
        found.append({"role": "assistant", "calls": calls})
    return found


def _calls_of(message: JsonObject) -> list[Json]:
    joiner = CallJoiner()
    calls = message.get("tool_calls")
    joiner.add_whole_calls(calls if isinstance(calls, list) else [])
    return [[call.name, call.arguments] for call in joiner.joined()]


def _words(case: RecordedCase, name: str) -> tuple[str, ...]:
    words = case.expect.get(name)
    return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()


def _text(value: JsonObject, name: str, *, where: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise RecordedCaseError(f"{where}: {name} must be a text, found {found!r}")
    return found


def _object(value: JsonObject, name: str, *, where: str) -> JsonObject:
    found = value.get(name)
    if not isinstance(found, dict):
        raise RecordedCaseError(f"{where}: {name} must be an object, found {found!r}")
    return found
