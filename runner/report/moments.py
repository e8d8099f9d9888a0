"""Moments of a report: always of the store, never of the clock on the wall."""

from runner.evidence.wording import NO_KNOWN_TIME, moment_of


def dated_text(at_us: int) -> str:
    """`2026-11-30 01:12:03 UTC`: with its year, for a report is read long after."""
    at = moment_of(at_us)
    return NO_KNOWN_TIME if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def clock_text(at_us: int) -> str:
    """`01:12:03.125`."""
    at = moment_of(at_us)
    return NO_KNOWN_TIME if at is None else f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
