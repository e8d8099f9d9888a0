"""Log events on the clock of a run: bins that fit, and windows that may be given the wrong way."""

import pandas as pd
import pytest

from app.log_clock import bin_seconds, density_in_seconds, window_us

S = 1_000_000


@pytest.mark.parametrize(
    ("span_s", "size"), [(0.0, 1), (60.0, 1), (121.0, 2), (3600.0, 30), (1e9, 3600)]
)
def test_a_span_is_cut_into_at_most_120_round_bins(span_s: float, size: int) -> None:
    assert bin_seconds(span_s) == size


def test_density_counts_seconds_from_the_first_request() -> None:
    density = pd.DataFrame({"at_us": [10 * S], "event_class": ["wedge"], "lines": [3]})

    found = density_in_seconds(density, origin_us=4 * S)

    assert found["seconds"].tolist() == [6.0]
    assert found["lines"].tolist() == [3]


def test_swapped_ends_of_a_window_are_put_right() -> None:
    assert window_us(9.0, 2.0, origin_us=S) == (3 * S, 10 * S)


def test_an_open_window_has_no_end() -> None:
    assert window_us(None, None, origin_us=S) == (0, None)
    assert window_us(-5.0, None, origin_us=S) == (0, None)
