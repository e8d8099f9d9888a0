"""Numbers as every page and report writes them. Spaces before % are thin, minus signs are true."""

from decimal import Decimal

import pytest

from runner.evidence.counts import counted
from runner.evidence.rates import Interval, Rate
from runner.evidence.wording import (
    at_most_text,
    bears_rate,
    corrupt_text,
    count_text,
    duration_text,
    evidence_text,
    fraction_text,
    interval_text,
    moment_of,
    moment_text,
    percent_text,
    rounded,
    signed,
    signed_interval_text,
    silent_text,
)
from runner.report.moments import clock_text, dated_text


def plain(text: str) -> str:
    return text.replace("\u2009", " ").replace("\u2212", "-").replace("\u2013", "-")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (6.25, 1, "6.3"),
        (Decimal("0.05"), 1, "0.1"),
        (2.5, 0, "3"),
        (1234567.0, 0, "1,234,567"),
        (-8.75, 1, "\u22128.8"),
        (0.1, 1, "0.1"),
    ],
)
def test_halves_are_rounded_up_as_people_do(value: float, digits: int, text: str) -> None:
    assert rounded(value, digits) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (Rate(5, 80), "6.3 %"),
        (Rate(12, 80), "15.0 %"),
        (Rate(80, 80), "100 %"),
        (Rate(0, 80), "0 %"),
        (Rate(1, 10_000), "<0.1 %"),
        (Rate(9_999, 10_000), ">99.9 %"),
        (Rate(1, 1_000), "0.1 %"),
    ],
)
def test_a_percentage_has_one_decimal_and_never_looks_like_none_or_all(
    rate: Rate, text: str
) -> None:
    assert plain(percent_text(rate)) == text
    assert "\u2009%" in percent_text(rate)


@pytest.mark.parametrize(
    ("outcomes", "corrupt", "silent", "evidence"),
    [
        (
            {"done": 68, "leak": 12},
            "12/80  15.0 % [8.8-24.4]",
            "",
            "80 of 80 gave evidence, 12 of them corrupt: 15.0 %",
        ),
        ({"done": 80}, "0/80  ≤ 4.6 %", "", "80 of 80 gave evidence, 0 of them corrupt: ≤ 4.6 %"),
        ({"done": 20}, "0/20  ≤ 16.1 %", "", "20 of 20 gave evidence, 0 of them corrupt: ≤ 16.1 %"),
        (
            {"done": 79, "error": 1},
            "0/80  ≤ 6.7 %",
            "1 silent",
            "79 of 80 gave evidence, 0 of them corrupt: ≤ 4.6 %",
        ),
        (
            {"done": 31, "leak": 3, "error": 46},
            "3/80  3.8-61.3 % [1.3-71.2]",
            "46 silent (57.5 %)",
            "34 of 80 gave evidence, 3 of them corrupt: too many silent for a rate",
        ),
        (
            {"leak": 5, "error": 75},
            "5/80  6.3-100 % [2.7-100]",
            "75 silent (93.8 %)",
            "5 of 80 gave evidence, 5 of them corrupt: too few for a rate",
        ),
        ({"error": 80}, "0/80  ≤ 100 %", "80 silent (100 %)", "0 of 80 gave evidence"),
        ({"harness_error": 3}, "no sessions", "", "0 of 0 gave evidence"),
    ],
)
def test_a_cell_says_count_rate_interval_silence_and_evidence(
    outcomes: dict[str, int], corrupt: str, silent: str, evidence: str
) -> None:
    counts = counted(outcomes)

    assert plain(corrupt_text(counts)) == corrupt
    assert plain(silent_text(counts)) == silent
    assert plain(evidence_text(counts)) == evidence


def test_few_or_mostly_silent_sessions_bear_no_rate() -> None:
    assert not bears_rate(counted({"done": 19}))
    assert bears_rate(counted({"done": 20}))
    assert bears_rate(counted({"done": 40, "error": 40}))
    assert not bears_rate(counted({"done": 40, "error": 41}))


def test_counts_have_thousands_and_fractions_a_slash() -> None:
    assert count_text(1479) == "1,479"
    assert fraction_text(Rate(1200, 4000)) == "1,200/4,000"


def test_intervals_are_in_percent_and_signs_are_spelled_out() -> None:
    assert interval_text(Interval(0.0879, 0.2441)) == "[8.8\u201324.4]"
    assert signed_interval_text(-18.8, 1.0) == "[\u221218.8 to +1.0]"
    assert (signed(85.0), signed(-8.75), signed(0.0)) == ("+85.0", "\u22128.8", "0.0")
    assert plain(at_most_text(0.0458)) == "≤ 4.6 %"


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0.04, "0.0 s"),
        (84.94, "84.9 s"),
        (119.9, "119.9 s"),
        (120, "2 min"),
        (320.4, "5 min 20 s"),
        (3599.7, "1 h"),
        (20460, "5 h 41 min"),
    ],
)
def test_durations_are_written_in_units_of_their_size(duration_s: float, text: str) -> None:
    assert duration_text(duration_s) == text


def test_a_moment_is_in_utc() -> None:
    # date -u -d @1764385951 gives Sat Nov 29 03:12:31 UTC 2025
    assert moment_text(1764385951_999_999) == "29 Nov 03:12:31 UTC"


@pytest.mark.parametrize("at_us", [-1, 253_402_300_800_000_000, 10**30])
def test_a_number_that_the_calendar_has_no_moment_for_is_no_known_time(at_us: int) -> None:
    assert moment_of(at_us) is None
    assert moment_text(at_us) == dated_text(at_us) == clock_text(at_us) == "no known time"


def test_the_last_moment_of_the_calendar_is_one() -> None:
    assert dated_text(253_402_300_799_999_999) == "9999-12-31 23:59:59 UTC"
    assert clock_text(253_402_300_799_999_999) == "23:59:59.999"
