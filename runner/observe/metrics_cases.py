"""Reads recorded pages of metrics and holds the reading against what the case expects."""

from typing import Any

from runner.campaign.stack_shape import MetricRole
from runner.judge.json_values import JsonObject
from runner.judge.recorded_cases import CaseReading, RecordedCase
from runner.observe.case_expectation import differing_fields
from runner.observe.engine_readings import PageReading, read_page
from runner.observe.exposition import read_exposition
from runner.observe.metric_dialects import dialect_of
from runner.observe.scrape_verdict import Interval, ServerVerdict, judge_page


def read_metrics_case(case: RecordedCase) -> CaseReading:
    """Right where the verdict and every value agree, and `where`, if the case names an engine."""
    now, before = page_of_case(case), _page_before(case)
    verdict = _judged(case, now, before)
    found = _described(verdict, before)
    expect: dict[str, Any] = dict(case.expect)
    differing = differing_fields(
        {name: value for name, value in expect.items() if name in ("verdict", "where")}, found
    )
    differing += differing_fields(expect.get("values") or {}, found["values"])
    if "tokens_before" in expect:
        differing += differing_fields({"tokens_before": expect["tokens_before"]}, found)
    differing += [
        f"{name} must not be {wrong!r}"
        for name, wrong in (expect.get("wrong_if") or {}).items()
        if found["values"].get(name) == wrong
    ]
    if verdict.state in (expect.get("never") or ()):
        differing.append(f"never {verdict.state}")
    got = f"{verdict.state}, {'; '.join(differing)}" if differing else str(verdict.state)
    return CaseReading(case, got, str(expect.get("verdict")), not differing)


def page_of_case(case: RecordedCase) -> PageReading | None:
    """None where the server gave no page of metrics."""
    if case.context.get("http_status") not in (None, 200):
        return None
    return _page(case.content, case.context)


def _page_before(case: RecordedCase) -> PageReading | None:
    before = case.context.get("prev")
    return _page(before.encode(), case.context) if isinstance(before, str) else None


def _page(body: bytes, context: JsonObject) -> PageReading | None:
    content_type, model = context.get("content_type"), context.get("model")
    try:
        samples = read_exposition(
            body, content_type=content_type if isinstance(content_type, str) else ""
        )
    except ValueError:
        return None
    dialect = dialect_of(samples)
    if dialect is None:
        return None
    return read_page(samples, dialect, model=model if isinstance(model, str) else None)


def _judged(
    case: RecordedCase, now: PageReading | None, before: PageReading | None
) -> ServerVerdict:
    elapsed_s, in_flight = case.context.get("dt_s"), case.context.get("client_in_flight")
    count = in_flight if isinstance(in_flight, int) else None
    interval = None
    if before is not None and isinstance(elapsed_s, int | float):
        interval = Interval(before=before, elapsed_s=float(elapsed_s), in_flight=count)
    return judge_page(now, interval, in_flight=count)


def _described(verdict: ServerVerdict, before: PageReading | None) -> dict[str, Any]:
    tokens = before.totals().get(MetricRole.GENERATION_TOKENS) if before is not None else None
    return {
        "verdict": str(verdict.state),
        "where": ", ".join(verdict.where),
        "values": {str(role): value for role, value in verdict.values.items()},
        "tokens_before": tokens,
    }
