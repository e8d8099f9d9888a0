"""Numbers too small to be meant are refused with a sentence, not computed to an overflow."""

import pytest

from runner.errors import ConfigError
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled
from tests.runner.cli.calls import json_of, refusal


@pytest.mark.parametrize("rates", [("1e-300", "0"), ("0.5", "0.49999999999")])
def test_a_fall_that_no_count_could_show_is_refused(rates: tuple[str, str]) -> None:
    assert "a fall below 1e-09 takes more sessions than can be counted" in refusal("power", *rates)


def test_the_smallest_fall_is_computed() -> None:
    assert json_of("power", "1e-9", "0")["rows"][0]["sessions_per_arm"] > 10**9


def test_arrivals_that_would_never_come_are_refused() -> None:
    text = spoiled(CAMPAIGN, "workload:", "workload:\n  arrivals_per_s: 1e-300")

    with pytest.raises(ConfigError, match=r"arrivals_per_s must be at least 0\.0001; found 1e-300"):
        campaign(text)
