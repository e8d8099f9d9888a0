"""The five lines that every run prints, in a shape that scripts and eyes already know."""

import json
from decimal import ROUND_HALF_UP, Decimal

from db.vocabulary import Outcome
from runner.evidence.counts import SessionCounts
from runner.evidence.rates import Rate

_ALWAYS_SHOWN = (Outcome.LEAK, Outcome.NO_TOOL, Outcome.ERROR)
_OK_ISH = (Outcome.DONE, Outcome.MAXROUNDS)


def summary_lines(
    counts: SessionCounts,
    *,
    wall_s: float | None,
    peak_running: float | None,
    wedge_lines: int | None,
    wedge_requests: int | None,
) -> tuple[str, str, str, str, str]:
    """`peak_running` is None where no scrape was read, the wedges where nobody counted: missing is
    not zero.
    """
    return (
        f"wall={_wall(wall_s)} counts={_counts_json(counts)}",
        f"CORRUPTION sessions: {_rate_of_all(counts)}  ({_outcomes(counts)})",
        f"peak decode #running: {'unknown' if peak_running is None else float(peak_running)}",
        f"WaitingForInput/aborts during run: {_wedge_words(wedge_lines, wedge_requests)}",
        f"evidence: {_evidence(counts)}",
    )


def whole_percent(rate: Rate) -> str:
    """`6%`, half up; what rounds to nothing or all without being it says so."""
    percent = Decimal(100 * rate.count) / Decimal(rate.of)
    whole = int(percent.quantize(Decimal(1), ROUND_HALF_UP))
    if whole == 0 and rate.count:
        return "<1%"
    if whole == 100 and rate.count < rate.of:
        return ">99%"
    return f"{whole}%"


def _wall(wall_s: float | None) -> str:
    return "unknown" if wall_s is None else f"{wall_s:.1f}s"


def _counts_json(counts: SessionCounts) -> str:
    seen = {str(outcome): number for outcome, number in counts.by_outcome.items() if number}
    return json.dumps(seen, sort_keys=True)


def _rate_of_all(counts: SessionCounts) -> str:
    rate = counts.corrupt_of_all
    return "0/0 = no rate" if rate is None else f"{rate.count}/{rate.of} = {whole_percent(rate)}"


def _outcomes(counts: SessionCounts) -> str:
    shown = [f"{outcome}={counts[outcome]}" for outcome in _ALWAYS_SHOWN]
    shown.append(f"ok-ish[done/maxrounds]={sum(counts[outcome] for outcome in _OK_ISH)}")
    others = [each for each in Outcome if each not in (*_ALWAYS_SHOWN, *_OK_ISH) and counts[each]]
    return " ".join([*shown, *(f"{outcome}={counts[outcome]}" for outcome in others)])


def _wedge_words(lines: int | None, requests: int | None) -> str:
    if lines is None:
        return "unknown"
    return str(lines) if requests is None or requests == lines else f"{lines} ({requests} requests)"


def _evidence(counts: SessionCounts) -> str:
    gave = f"{counts.gave_evidence} of {counts.all} sessions"
    corrupt = f"corrupt {counts.corrupt}/{counts.gave_evidence} of those"
    bounds = counts.bounds
    if bounds is None:
        return f"{gave}; {corrupt}; no bounds"
    low, high = whole_percent(bounds.low), whole_percent(bounds.high)
    return f"{gave}; {corrupt}; bounds {low}..{high}"
