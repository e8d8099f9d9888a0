"""What a fuzzer begins with: the recorded cases, and the words that the readers look for."""

from collections.abc import Iterator
from pathlib import Path

from runner.judge.markup_catalogue import CATALOGUE as MARKUP
from runner.judge.recorded_cases import read_cases
from runner.observe.metric_dialects import KNOWN_DIALECTS
from tests.runner.observe.catalogue import CATALOGUE as EVENTS

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
TARGETS_OF_KIND = {
    "sse": ("event_stream", "judged_answer"),
    "metrics": ("metrics_page",),
    "log": ("service_log", "followed_log"),
}
_STREAM_WORDS = """
    data: event: retry: id: [DONE] {"choices":[{"delta":{ "content":" "tool_calls":[{ "function":{
    "arguments":" "finish_reason":" "usage":{ "error":{ \\u00 \\ud83d
"""
_LOG_WORDS = """
    {"MESSAGE":[ {"MESSAGE":" "__REALTIME_TIMESTAMP":" "__CURSOR":" {"log":" "stream":" "time":"
    {"message":" "timestamp": "fields":{ \\udc80 NaN 1e999
"""
_METRIC_WORDS = (
    '# TYPE # HELP # EOF counter gauge histogram NaN +Inf -Inf 1e308 {le=" _total _bucket'
)


def write_seeds(target: str, folder: Path) -> None:
    """One file for each recorded case, twice: cut into single bytes, and into long pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cases.jsonl", "own_recordings.jsonl"):
        lines = (CASES / name).read_text("utf-8").splitlines()
        for case in read_cases(lines, source=name):
            if target in TARGETS_OF_KIND[case.kind]:
                (folder / f"{case.id}-0").write_bytes(b"\x00" + case.content)
                (folder / f"{case.id}-1").write_bytes(b"\xff" + case.content)


def write_dictionary(path: Path) -> None:
    """In the format of libFuzzer: a word a line, each byte outside of ASCII escaped."""
    path.write_text("".join(f'"{_escaped(word)}"\n' for word in sorted(set(_words()))), "ascii")


def _words() -> Iterator[bytes]:
    for text in (_STREAM_WORDS, _LOG_WORDS, _METRIC_WORDS):
        yield from (word.encode() for word in text.split())
    yield from (cue.encode() for family in MARKUP for cue in family.cues)
    yield from (text.encode() for entry in EVENTS.patterns for text in entry.literals)
    yield from (name.encode() for dialect in KNOWN_DIALECTS for name in dialect.series())


def _escaped(word: bytes) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in '"\\' else f"\\x{byte:02x}"
        for byte in word
    )
