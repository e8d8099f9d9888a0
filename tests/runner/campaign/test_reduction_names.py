"""Trials of a reduction belong to the campaign that they reduce."""

from typing import NamedTuple

from runner.campaign.reduction_names import (
    by_reduction,
    is_of_reduction,
    sandwich_prefix,
    trial_prefix,
)

DIGEST = "0123abcd"


class Named(NamedTuple):
    name: str
    number: int = 0


def grouped(*newest_first: Named) -> list[tuple[Named, list[Named]]]:
    return [(each.campaign, list(each.trials)) for each in by_reduction(newest_first)]


def test_trials_and_the_sandwich_stand_under_their_campaign() -> None:
    root, other = Named("pool"), Named("other")
    trial = Named(trial_prefix("pool") + DIGEST)
    sandwich = Named(sandwich_prefix("pool") + DIGEST)

    assert grouped(sandwich, trial, other, root) == [(other, []), (root, [sandwich, trial])]


def test_a_long_name_is_known_by_its_beginning() -> None:
    root = Named("a" * 60)
    trial = Named(trial_prefix(root.name) + DIGEST)

    assert grouped(trial, root) == [(root, [trial])]


def test_of_two_campaigns_of_the_name_the_one_before_the_trial_is_meant() -> None:
    trial = Named(trial_prefix("pool") + DIGEST)
    before, after = Named("pool", 1), Named("pool", 2)

    assert grouped(after, trial, before) == [(after, []), (before, [trial])]


def test_the_reduction_of_a_reduction_stands_under_the_first_campaign() -> None:
    root = Named("pool")
    sandwich = Named(sandwich_prefix("pool") + DIGEST)
    inner = Named(trial_prefix(sandwich.name) + DIGEST)

    assert grouped(inner, sandwich, root) == [(root, [inner, sandwich])]


def test_a_trial_without_its_campaign_stands_by_itself() -> None:
    trial = Named(trial_prefix("gone") + DIGEST)

    assert grouped(trial, Named("pool")) == [(trial, []), (Named("pool"), [])]


def test_a_campaign_that_only_sounds_like_a_trial_is_none() -> None:
    assert not is_of_reduction("pool.reduce-later")
    assert not is_of_reduction("reduce-0123abcd")
    assert is_of_reduction("pool.reduce-0123abcd")
