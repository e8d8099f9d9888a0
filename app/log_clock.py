"""Log events on the clock of a run: bins that fit a picture, and density in seconds; pure."""

import pandas as pd

from app.wording import SECOND_US

_MOST_BINS = 120
_BINS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)


def bin_seconds(span_s: float) -> int:
    """The smallest round bin that cuts the span into at most 120."""
    return next((size for size in _BINS_S if span_s / size <= _MOST_BINS), _BINS_S[-1])


def density_in_seconds(density: pd.DataFrame, *, origin_us: int) -> pd.DataFrame:
    """`at_us` becomes `seconds` from the first request of the run; `event_class`, `lines` stay."""
    return pd.DataFrame(
        {
            "seconds": (density["at_us"] - origin_us) / SECOND_US,
            "event_class": density["event_class"],
            "lines": density["lines"],
        }
    )


def window_us(
    start_s: float | None, end_s: float | None, *, origin_us: int
) -> tuple[int, int | None]:
    """The times between which events are asked for; swapped ends are put right."""
    if start_s is not None and end_s is not None and end_s < start_s:
        start_s, end_s = end_s, start_s
    first = 0 if start_s is None else max(0, origin_us + round(start_s * SECOND_US))
    last = None if end_s is None else origin_us + round(end_s * SECOND_US)
    return first, last
