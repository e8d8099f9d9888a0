"""A pause within which neither every hesitation nor no wedge at all would be called a wedge."""

import pytest

from runner.errors import ConfigError
from tests.runner.campaign.files import CAMPAIGN, campaign


def with_pause(pause_s: str) -> str:
    return f"{CAMPAIGN.rstrip()}\nlongest_pause_s: {pause_s}\n"


@pytest.mark.parametrize("pause_s", ["60", "10000"])
def test_a_pause_that_outlasts_every_session_would_hide_all_wedges(pause_s: str) -> None:
    with pytest.raises(ConfigError) as raised:
        campaign(with_pause(pause_s))

    said = str(raised.value)
    assert "no wedge could be seen: sessions give up after 60 s" in said
    assert said.endswith(f"found {pause_s}")


def test_a_pause_too_short_for_any_answer_would_make_a_wedge_of_each() -> None:
    with pytest.raises(ConfigError, match="longest_pause_s must be at least 1; found 1e-09"):
        campaign(with_pause("1e-9"))


def test_a_pause_between_them_is_taken() -> None:
    assert campaign(with_pause("30")).longest_pause_s == 30
