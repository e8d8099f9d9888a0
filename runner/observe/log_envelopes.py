"""Takes a physical log line out of what collectors wrap around it; knows no serving engine.

journald's JSON and short formats, docker's and Kubernetes' files, the prefixes of compose and
kubectl, and loggers that write one JSON object a line.
"""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from runner.observe.log_times import seconds_of

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
ANSI_BYTES = re.compile(ANSI.pattern.encode("ascii"))
_JUNK = "\ufffd\ufeff\x00"
_CRI = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF]) ?")
_NO_LEVEL = r"(?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b)"
_SYSLOG = re.compile(
    r"((?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
    r"|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?)"
    rf" {_NO_LEVEL}"
    r"([\w.-]+) ([\w./@-]+(?:\[\d+\])?):(?!:) ?"
)
_STAMPED = re.compile(
    rf"(\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6,9}}(?:Z|[+-]\d\d:\d\d)) (?=\S){_NO_LEVEL}"
)
_COMPOSE = re.compile(r"[\w.-]+[-_]\d+ +\| ?")
_POD = re.compile(r"\[pod/[^\]]+\] ?")
# A number between is of milliseconds: as seconds it would be after the year 5000.
_FIRST_MS, _LAST_MS = 1e11, 1e14
_MESSAGE_KEYS = ("message", "msg", "fields.message", "log", "text")
_TIME_KEYS = ("asctime", "timestamp", "time", "ts", "@timestamp", "t")
_LEVEL_KEYS = ("levelname", "level", "severity", "lvl")
_PROCESS_KEYS = ("vllm_process_name", "processName", "process", "logger", "target", "name")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """`at_s` is the collector's time, an exact moment where it has a zone; None without one.

    `is_partial`: the next line of the same `stream` goes on with this one. `cursor` is the name of
    an entry of the journal, which no other has.
    """

    text: str
    at_s: float | None = None
    stream: str = ""
    is_partial: bool = False
    program: str = ""
    level: str = ""
    is_whole: bool = False
    cursor: str = ""

    @property
    def source(self) -> str:
        """Which of several services wrote it; empty where its envelope names none."""
        return "" if self.stream in ("stdout", "stderr") else self.stream


def unwrap(line: str, *, year: int) -> Unwrapped:
    """Never raises. What is no known envelope comes back as it is, without colour codes."""
    text = line.lstrip(_JUNK)
    if found := _COMPOSE.match(text) or _POD.match(text):
        inner = _unwrap(text[found.end() :], year)
        return inner if inner.stream else replace(inner, stream=found[0].strip())
    return _unwrap(text, year)


def _unwrap(text: str, year: int) -> Unwrapped:
    if text.lstrip()[:1] == "{":
        opened = _from_json(text, year)
        if opened is not None:
            return opened
    if found := _CRI.match(text):
        at_s = seconds_of(found[1], year=year)
        return Unwrapped(_plain(text[found.end() :]), at_s, found[2], is_partial=found[3] == "P")
    if found := _SYSLOG.match(text):
        at_s = seconds_of(found[1], year=year)
        program = found[3].partition("[")[0]
        return Unwrapped(_plain(text[found.end() :]), at_s, found[3], program=program)
    if found := _STAMPED.match(text):
        return Unwrapped(_plain(text[found.end() :]), seconds_of(found[1], year=year))
    return Unwrapped(_plain(text))


def _plain(text: str) -> str:
    return ANSI.sub("", text) if "\x1b" in text else text


def _from_json(text: str, year: int) -> Unwrapped | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    opened = _of_collector(value, year)
    return _without_surrogates(opened) if opened is not None and "\\u" in text else opened


def _of_collector(value: dict[str, Any], year: int) -> Unwrapped | None:
    if "__REALTIME_TIMESTAMP" in value or "MESSAGE" in value:
        return _from_journal(value)
    if "stream" in value and isinstance(value.get("log"), str):
        return _from_docker(value, year)
    return _from_logger(value, year)


def _without_surrogates(opened: Unwrapped) -> Unwrapped:
    """Half a character is legal in JSON and nowhere else."""
    texts = ("text", "stream", "program", "level", "cursor")
    return replace(
        opened,
        **{name: getattr(opened, name).encode("utf-8", "replace").decode() for name in texts},
    )


def _from_journal(value: dict[str, Any]) -> Unwrapped:
    program = value.get("SYSLOG_IDENTIFIER") or value.get("_COMM") or ""
    stamp = value.get("__REALTIME_TIMESTAMP")
    is_time = isinstance(stamp, str) and stamp.isdecimal() and len(stamp) <= 16
    at_s = int(str(stamp)) / 1e6 if is_time else None
    text = _journal_text(value.get("MESSAGE"))
    stream = f"{program}[{value.get('_PID', '')}]"
    cursor = value.get("__CURSOR")
    return Unwrapped(
        _plain(text),
        at_s,
        stream,
        program=str(program),
        cursor=cursor if isinstance(cursor, str) else "",
    )


def _journal_text(message: Any) -> str:
    """A message that is no clean text is an array of bytes; a repeated field one of texts."""
    if isinstance(message, str):
        return message
    if not isinstance(message, list):
        return ""
    if _are_bytes(message):
        return bytes(message).decode("utf-8", errors="replace")
    return "\n".join(_text_or_bytes(each) for each in message)


def _text_or_bytes(value: Any) -> str:
    if isinstance(value, str):
        return value
    return bytes(value).decode("utf-8", errors="replace") if _are_bytes(value) else ""


def _are_bytes(value: Any) -> bool:
    is_list = isinstance(value, list) and bool(value)
    return is_list and all(type(each) is int and 0 <= each <= 255 for each in value)


def _from_docker(value: dict[str, Any], year: int) -> Unwrapped:
    text, stream = str(value["log"]), str(value["stream"])
    stamp = value.get("time")
    at_s = seconds_of(stamp, year=year) if isinstance(stamp, str) else None
    is_partial = not text.endswith("\n")
    return Unwrapped(_plain(text.rstrip("\r\n")), at_s, stream, is_partial)


def _from_logger(value: dict[str, Any], year: int) -> Unwrapped | None:
    message = _first(value, _MESSAGE_KEYS)
    if not isinstance(message, str):
        return None
    stamp, level = _first(value, _TIME_KEYS), _first(value, _LEVEL_KEYS)
    at_s: float | None = None
    if isinstance(stamp, str):
        at_s = seconds_of(stamp, year=year)
    elif type(stamp) in (int, float) and 0 < stamp < _LAST_MS:  # false for NaN
        at_s = stamp / 1e3 if stamp > _FIRST_MS else float(stamp)
    process = _first(value, _PROCESS_KEYS)
    return Unwrapped(
        _plain(message),
        at_s,
        program=process if isinstance(process, str) else "",
        level=level.upper() if isinstance(level, str) else "",
        is_whole=True,
    )


def _first(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        found: Any = value
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None
