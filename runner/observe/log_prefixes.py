"""Splits the prefix that an engine's logger writes from the message; knows no message."""

import re
from dataclasses import dataclass

from runner.observe.log_times import seconds_of

_LEVEL = r"TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL"
# SGLang srt/utils/common.py configure_logger: local time, no zone, no level, ranks of its process.
_SGLANG = re.compile(
    r"\[(?P<ts>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?)(?P<ranks>(?: [A-Z][A-Z_]*\d+)*)\] ?"
)
# vLLM vllm/logger.py: no year; the process before it since the engine has processes of its own.
_VLLM = re.compile(
    rf"(?:\((?P<process>\w+)(?: \w+=[\w.-]+)*\) )?(?P<level>{_LEVEL}) "
    r"(?P<ts>\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?) "
    r"(?:\[(?P<file>[^\]\s]+)\]|(?P<old>[\w./]+:\d+)\]) ?"
)
_UVICORN = re.compile(rf"(?:\((?P<process>\w+)(?: \w+=[\w.-]+)*\) )?(?P<level>{_LEVEL}): {{1,10}}")
_PROCESS = re.compile(r"\((?P<process>\w+)(?: \w+=[\w.-]+)+\) ")
# TensorRT-LLM: US order; the severity in brackets of its own.
_TENSORRT = re.compile(
    r"\[(?P<ts>\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] (?:\[(?:TRT-LLM|TensorRT-LLM|TRT)\] ?)?"
    r"(?:\[RANK (?P<rank>\d+)\] ?)?(?:\[(?P<level>[A-Z])\] ?)?(?:\[RANK (?P<rank2>\d+)\] ?)?"
)
# glog as PyTorch's ProcessGroupNCCL writes it: month and day without a year, E612 or E0612.
_GLOG = re.compile(
    r"(?:\[rank(?P<rank>\d+)\]:)?\[?(?P<level>[IWEF])(?P<ts>\d{3,4} \d\d:\d\d:\d\d(?:\.\d+)?)"
    r"(?: +\d+)? (?P<file>[\w.-]+:\d+)\] ?"
)
_OLD_NCCL = re.compile(r"\[(?P<level>[IWEF]) (?P<file>[\w.-]+:\d+)\] ?")
# Python's logging, Rust's tracing: the year first, perhaps a zone.
_STAMPED = re.compile(
    r"\[?(?P<ts>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]?"
    rf"(?:\s*[-|]\s*|\s+)(?:(?P<name>[\w.]+) - )?\[?(?:(?P<level>{_LEVEL})\b\]?[\s:|-]{{0,4}})?"
    r"(?:(?P<target>[a-z_]\w*(?:::\w+)+): )?"
)
_BY_FIRST = {
    "[": (_SGLANG, _TENSORRT, _GLOG, _OLD_NCCL, _STAMPED),
    "(": (_VLLM, _UVICORN, _PROCESS),
}
_DIGIT = (_STAMPED,)
_LETTER = (_VLLM, _UVICORN, _GLOG)
_RANK = re.compile(r"(?:DP|PP|ATTN_CP|MOE_DP|TP|EP|ATTN_TP|MOE_EP)\d+")


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A message and what its prefix said; `has_prefix` is False where there was none."""

    text: str
    has_prefix: bool = False
    at_s: float | None = None
    level: str = ""
    process: str = ""
    ranks: tuple[str, ...] = ()
    place: str = ""


def split_prefix(line: str, *, year: int) -> Prefixed:
    """Never raises; a line without a known prefix is all message."""
    first = line[:1]
    if first in _BY_FIRST:
        patterns = _BY_FIRST[first]
    elif first.isdigit():
        patterns = _DIGIT
    elif "A" <= first <= "Z":
        patterns = _LETTER
    else:
        return Prefixed(line)
    for pattern in patterns:
        if found := pattern.match(line):
            return _prefixed(line, found, year)
    return Prefixed(line)


def ranks_in(name: str) -> tuple[str, ...]:
    """`Worker_DP6_EP6` -> DP6, EP6; ` DP1 TP1 EP1` -> DP1, TP1, EP1."""
    return tuple(_RANK.findall(name))


def _prefixed(line: str, found: re.Match[str], year: int) -> Prefixed:
    said = {name: value for name, value in found.groupdict().items() if value}
    rank = said.get("rank") or said.get("rank2")
    process = said.get("process", "")
    ranks = ranks_in(said.get("ranks", "") or process)
    if rank is not None:
        ranks = (f"RANK{rank}",)
    text = line[found.end() :]
    at_s = seconds_of(said["ts"], year=year) if "ts" in said else None
    if at_s is not None and (inner := _UVICORN.match(text)) and inner["level"]:
        # SGLang writes uvicorn's own prefix behind its time.
        text, said["level"] = text[inner.end() :], inner["level"]
    return Prefixed(
        text=text,
        has_prefix=True,
        at_s=at_s,
        level=said.get("level", ""),
        process=process,
        ranks=ranks,
        place=said.get("file") or said.get("old") or said.get("target") or "",
    )
