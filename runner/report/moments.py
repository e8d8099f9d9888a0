"""Moments of a report: always of the store, never of the clock on the wall."""

from datetime import UTC, datetime

from runner.evidence.wording import END_OF_CALENDAR_US

_SECOND_US = 1_000_000


def dated_text(at_us: int) -> str:
    """`2026-11-30 01:12:03 UTC`: with its year, for a report is read long after."""
    if not 0 <= at_us < END_OF_CALENDAR_US:
        return "no known time"
    return f"{datetime.fromtimestamp(at_us // _SECOND_US, UTC):%Y-%m-%d %H:%M:%S} UTC"


def clock_text(at_us: int) -> str:
    """`01:12:03.125`."""
    if not 0 <= at_us < END_OF_CALENDAR_US:
        return "no known time"
    at = datetime.fromtimestamp(at_us / _SECOND_US, UTC)
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
