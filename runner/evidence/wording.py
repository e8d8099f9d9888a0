"""How numbers are written wherever people read them, so that dashboard and report never differ."""

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

from runner.evidence.counts import SessionCounts
from runner.evidence.rates import Interval, Rate, RateBounds

THIN_SPACE = "\u2009"
MINUS = "\u2212"
EN_DASH = "\u2013"
NONE_SEEN = "\u2264"  # at most

# Below these no percentage is given of the sessions that gave evidence: so few are those that end
# first, and corrupt sessions end first.
MIN_EVIDENCE = 20
MAX_SILENT_SHARE = Decimal("0.5")
# A share of silent sessions above which it is shown beside the rate.
NOTED_SILENT_SHARE = Decimal("0.2")

NO_KNOWN_TIME = "no known time"
_END_OF_CALENDAR_US = 253_402_300_800_000_000  # midnight after the last day of the year 9999

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def rounded(value: Decimal | float, digits: int = 1) -> str:
    """Half up, as people round: 6.25 becomes 6.3, where format() gives 6.2."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    text = f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,f}"
    return text.replace("-", MINUS)


def count_text(number: int) -> str:
    return f"{number:,}"


def fraction_text(rate: Rate) -> str:
    return f"{rate.count:,}/{rate.of:,}"


def percent_text(rate: Rate) -> str:
    """`15.0 %`; without a decimal only where it is all or none."""
    return f"{_percent(share_of(rate))}{THIN_SPACE}%"


def share_of(rate: Rate) -> Decimal:
    return Decimal(rate.count) / Decimal(rate.of)


def interval_text(interval: Interval) -> str:
    """`[8.8–24.4]`, in percent."""
    low, high = (_percent(Decimal(repr(float(end)))) for end in interval)
    return f"[{low}{EN_DASH}{high}]"


def signed_interval_text(low: float, high: float) -> str:
    """`[−18.8 to +1.0]`: a dash would look like a sign."""
    return f"[{signed(low)} to {signed(high)}]"


def signed(value: float, digits: int = 1) -> str:
    text = rounded(value, digits)
    return text if text.startswith(MINUS) or not value else f"+{text}"


def at_most_text(limit: float) -> str:
    """`≤ 4.6 %`, which stands where nothing was seen: never 0 %."""
    return f"{NONE_SEEN}{THIN_SPACE}{_percent(Decimal(repr(limit)))}{THIN_SPACE}%"


def corrupt_text(counts: SessionCounts) -> str:
    """`12/80  15.0 % [8.8–24.4]`, or `0/80  ≤ 4.6 %`; silent sessions widen both intervals.

    With silent ones no single rate was seen: `5/80  6.3–100 % [2.7–100]`.
    """
    bounds = counts.bounds
    if bounds is None:
        return "no sessions"
    fraction, interval = fraction_text(bounds.low), bounds.wilson()
    if counts.corrupt == 0:
        return f"{fraction}  {at_most_text(interval.high)}"
    return f"{fraction}  {_bounds_text(bounds)} {interval_text(interval)}"


def _bounds_text(bounds: RateBounds) -> str:
    """What the rate is if all silent sessions were clean, and if all were corrupt."""
    low, high = (_percent(share_of(end)) for end in (bounds.low, bounds.high))
    return percent_text(bounds.low) if low == high else f"{low}{EN_DASH}{high}{THIN_SPACE}%"


def silent_text(counts: SessionCounts) -> str:
    """`75 silent (93.8 %)`; empty where all spoke."""
    rate = counts.silent_of_all
    if rate is None or rate.count == 0:
        return ""
    share = f" ({percent_text(rate)})" if share_of(rate) > NOTED_SILENT_SHARE else ""
    return f"{rate.count:,} silent{share}"


def evidence_text(counts: SessionCounts) -> str:
    """How many sessions gave evidence, and a rate of those only where they are enough for one."""
    gave, total, corrupt = counts.gave_evidence, counts.all, counts.corrupt
    rate = counts.corrupt_of_evidence
    if rate is None:
        return f"{gave:,} of {total:,} gave evidence"
    of_them = f"{gave:,} of {total:,} gave evidence, {corrupt:,} of them corrupt"
    if not bears_rate(counts):
        few = counts.gave_evidence < MIN_EVIDENCE
        return f"{of_them}: {'too few' if few else 'too many silent'} for a rate"
    return f"{of_them}: {percent_text(rate) if corrupt else at_most_text(rate.wilson().high)}"


def bears_rate(counts: SessionCounts) -> bool:
    """Whether a percentage of the sessions that gave evidence may be shown."""
    silent = counts.silent_of_all
    is_mostly_silent = silent is not None and share_of(silent) > MAX_SILENT_SHARE
    return counts.gave_evidence >= MIN_EVIDENCE and not is_mostly_silent


def duration_text(duration_s: float) -> str:
    """`84.9 s`, `5 min 20 s`, `5 h 41 min`."""
    if duration_s < 120:
        return f"{rounded(duration_s)} s"
    minutes, seconds = divmod(int(duration_s + 0.5), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def moment_of(at_us: int) -> datetime | None:
    """Microseconds since the epoch as a moment; None where the calendar has none such."""
    if not 0 <= at_us < _END_OF_CALENDAR_US:
        return None
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).replace(microsecond=at_us % 1_000_000)


def moment_text(at_us: int) -> str:
    """`29 Nov 03:12:31 UTC`."""
    at = moment_of(at_us)
    if at is None:
        return NO_KNOWN_TIME
    return f"{at.day} {_MONTHS[at.month - 1]} {at:%H:%M:%S} UTC"


def _percent(share: Decimal) -> str:
    """0, 100, or one decimal: what rounds to 0.0 or 100.0 without being it must not look so."""
    if share in (0, 1):
        return str(int(share * 100))
    text = rounded(share * 100)
    return {"0.0": "<0.1", "100.0": ">99.9"}.get(text, text)
