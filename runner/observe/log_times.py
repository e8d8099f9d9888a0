"""Turns the time stamps of serving logs into seconds; a missing zone is UTC, a missing year given.

Only differences within one log are relied on, so that a wrong zone or year does no harm.
"""

import re
from datetime import UTC, datetime, timedelta, timezone

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?$"
)
_MONTH_DAY = re.compile(r"(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
_US_ORDER = re.compile(r"(\d\d)/(\d\d)/(\d{4})-(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
_GLOG = re.compile(r"(\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")
_SYSLOG = re.compile(r"([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:[.,]\d+)?$")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DAY_S = 86_400


def seconds_of(text: str, *, year: int) -> float | None:
    """Seconds since 1970 of a time stamp in any of the known forms; None for anything else."""
    try:
        return _read(text.strip(), year)
    except ValueError:  # the 31st of February
        return None


def clock_of(text: str) -> int | None:
    """Seconds since midnight of `09:15:02`."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    hours, minutes, seconds = (int(part) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds


def _read(text: str, year: int) -> float | None:
    if found := _ISO.match(text):
        *parts, fraction, zone = found.groups()
        return _seconds([int(part) for part in parts], fraction, zone)
    if found := _MONTH_DAY.match(text):
        *parts, fraction = found.groups()
        return _seconds([year, *(int(part) for part in parts)], fraction)
    if found := _US_ORDER.match(text):
        month, day, full_year, *parts, fraction = found.groups()
        numbers = [int(full_year), int(month), int(day), *(int(part) for part in parts)]
        return _seconds(numbers, fraction)
    if found := _GLOG.match(text):
        *parts, fraction = found.groups()
        return _seconds([year, *(int(part) for part in parts)], fraction)
    if (found := _SYSLOG.match(text)) and found[1] in _MONTHS:
        _, *parts, fraction = found.groups()
        numbers = [year, _MONTHS.index(found[1]) + 1, *(int(part) for part in parts)]
        return _seconds(numbers, fraction)
    return None


def _seconds(numbers: list[int], fraction: str | None, zone: str | None = None) -> float:
    year, month, day, hour, minute, second = numbers
    at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=_zone(zone))
    return at.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))
