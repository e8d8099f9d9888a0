"""Tells by its content which tool wrote a result file, and reads the runs in it; pure."""

import json
from collections.abc import Iterator

from runner.errors import RecordedCaseError
from runner.evidence.printed_run import read_printed_run
from runner.imported.aiperf_results import (
    is_aiperf_record,
    is_aiperf_summary,
    read_aiperf_records,
    read_aiperf_summary,
)
from runner.imported.bench_results import (
    is_sglang_result,
    is_vllm_result,
    read_sglang_result,
    read_vllm_result,
)
from runner.imported.guidellm_results import is_guidellm_report, read_guidellm_report
from runner.imported.imported_run import ImportedRun
from runner.imported.json_reading import Object
from runner.imported.openai_log import is_openai_line, read_openai_log

PRINTED = "printed lines"

KNOWN = (
    "the JSON of guidellm, `vllm bench serve`, sglang.bench_serving or aiperf, chat requests and "
    "responses as JSON lines, or a run's printed lines"
)


def read_result_file(content: str) -> tuple[ImportedRun, ...]:
    """Every run in the file. Raises RecordedCaseError with one sentence for what is not known."""
    if "CORRUPTION sessions:" in content and not content.lstrip().startswith(("{", "[")):
        return (_printed(content),)
    found = tuple(_objects(content))
    if not found:
        raise RecordedCaseError(f"it is empty; wanted: {KNOWN}")
    return _runs(found)


def _runs(found: tuple[Object, ...]) -> tuple[ImportedRun, ...]:
    first = found[0]
    if is_aiperf_record(first):
        return (read_aiperf_records(found),)
    if is_openai_line(first):
        return (read_openai_log(found),)
    return tuple(run for whole in found for run in _of_one(whole))


def _of_one(whole: Object) -> tuple[ImportedRun, ...]:
    if is_guidellm_report(whole):
        return read_guidellm_report(whole)
    if is_aiperf_summary(whole):
        return (read_aiperf_summary(whole),)
    if is_vllm_result(whole):
        return (read_vllm_result(whole),)
    if is_sglang_result(whole):
        return (read_sglang_result(whole),)
    names = ", ".join(_shown(name) for name in list(whole)[:6]) or "nothing in it"
    raise RecordedCaseError(f"an object with {names} is no result that is known; wanted: {KNOWN}")


def _objects(content: str) -> Iterator[Object]:
    """One document, a list of objects, or one object a line."""
    try:
        whole = json.loads(content)
    except RecursionError as error:
        raise RecordedCaseError(f"its JSON is nested too deeply; wanted: {KNOWN}") from error
    except ValueError:
        yield from _lines(content)
        return
    for item in whole if isinstance(whole, list) else [whole]:
        if not isinstance(item, dict):
            raise RecordedCaseError(f"found {_shown(json.dumps(item))}; wanted: {KNOWN}")
        yield item


def _lines(content: str) -> Iterator[Object]:
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise RecordedCaseError(
                f"line {number} is no JSON object ({_shown(line)}); wanted: {KNOWN}"
            )
        yield value


def _shown(text: str) -> str:
    safe = "".join(x if x.isprintable() else "·" for x in text.strip())
    return safe if len(safe) <= 40 else f"{safe[:39]}…"


def _printed(content: str) -> ImportedRun:
    try:
        printed = read_printed_run(content)
    except ValueError as error:
        raise RecordedCaseError("a number in its lines cannot be read") from error
    sessions = printed.counts.all
    return ImportedRun(
        tool=PRINTED,
        requests_made=sessions,
        duration_s=printed.wall_s,
        counts={str(outcome): n for outcome, n in printed.counts.by_outcome.items() if n},
        wedge_lines=printed.wedge_lines,
        wedge_requests=printed.wedge_requests,
        peak_running=printed.peak_running,
    )
