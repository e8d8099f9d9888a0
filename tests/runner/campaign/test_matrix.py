"""Which arms a campaign has, in which order, and what they are called."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.campaign.file_shape import LevelValue
from runner.campaign.matrix import (
    Factors,
    arm_name,
    completed_levels,
    expand_arms,
    kept_choices,
    matches,
    number_of_choices,
)
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled

VALUES: list[LevelValue] = ["on", "off", "fp8", "bf16", 1, 80, 0.5, True]
LEVELS = st.lists(
    st.sampled_from(VALUES),
    min_size=1,
    max_size=4,
    unique_by=str,
).map(tuple)
FACTORS = st.dictionaries(st.sampled_from("abcde"), LEVELS, min_size=1, max_size=4)


@st.composite
def factors_and_exclusions(
    draw: st.DrawFn,
) -> tuple[dict[str, tuple[LevelValue, ...]], list[dict[str, LevelValue]]]:
    factors = draw(FACTORS)
    partial = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(levels) for name, levels in factors.items()}
    )
    return factors, draw(st.lists(partial.filter(bool), max_size=3))


def test_the_arms_of_a_campaign_are_those_that_no_exclusion_matches() -> None:
    names = [arm.name for arm in expand_arms(campaign())]

    assert names == [
        "fp8 · cache=off · fp8-sized · C=1",
        "fp8 · cache=off · fp8-sized · C=80",
        "fp8 · cache=on · fp8-sized · C=1",
        "fp8 · cache=on · fp8-sized · C=80",
        "bf16 · cache=off · fp8-sized · C=1",
        "bf16 · cache=off · fp8-sized · C=80",
        "bf16 · cache=on · fp8-sized · C=1",
        "bf16 · cache=on · fp8-sized · C=80",
        "bf16 · cache=on · dtype-aware · C=1",
        "bf16 · cache=on · dtype-aware · C=80",
    ]


def test_an_arm_knows_its_sessions_its_tag_and_whether_it_is_the_baseline() -> None:
    arms = expand_arms(campaign())

    assert [arm.position for arm in arms] == list(range(10))
    assert [arm.name for arm in arms if arm.is_baseline] == ["bf16 · cache=on · fp8-sized · C=80"]
    assert {(arm.concurrency, arm.sessions) for arm in arms} == {(1, 10), (80, 80)}
    assert [arm.tag for arm in arms[-3:]] == [None, "FIXED", "FIXED"]


def test_the_tags_of_two_levels_are_joined() -> None:
    text = spoiled(CAMPAIGN, "keys: [fp8, bf16]", "keys: {fp8: {}, bf16: {tag: WIDE}}")

    assert expand_arms(campaign(text))[-1].tag == "WIDE+FIXED"


@pytest.mark.parametrize(
    ("factors", "name"),
    [
        ({"keys": ("bf16", "fp8"), "concurrency": (1,)}, "bf16 · C=1"),
        ({"keys": ("bf16",), "concurrency": (1,)}, "C=1"),
        ({"pages": (264, 120), "concurrency": (1, 2)}, "pages=264 · C=1"),
        ({"a": ("on", "off"), "b": ("on", "off"), "concurrency": (1,)}, "a=on · b=on · C=1"),
        ({"a": (True, False), "concurrency": (1,)}, "a=true · C=1"),
        ({"hicache": ("on", "off"), "concurrency": (1,)}, "hicache=on · C=1"),
        ({"cache": ("Default", "lru"), "concurrency": (1,)}, "cache=Default · C=1"),
        ({"hangups": ("some", "none"), "concurrency": (1,)}, "hangups=some · C=1"),
        ({"temperature": ("0.7", "0"), "concurrency": (1,)}, "temperature=0.7 · C=1"),
        ({"pool": ("-1.5e3", "8GB"), "concurrency": (1,)}, "pool=-1.5e3 · C=1"),
        ({"pool": ("8GB", "4GB"), "concurrency": (1,)}, "8GB · C=1"),
        ({"concurrency": (1,), "keys": ("bf16", "fp8")}, "C=1 · bf16"),
    ],
)
def test_a_name_says_what_tells_an_arm_from_the_others(factors: Factors, name: str) -> None:
    assert arm_name(factors, next(kept_choices(factors, []))) == name


@given(FACTORS)
def test_without_exclusions_every_choice_is_there_once(factors: Factors) -> None:
    choices = list(kept_choices(factors, []))

    assert [tuple(choice.values()) for choice in choices] == list(product(*factors.values()))
    assert len(choices) == number_of_choices(factors) == prod(map(len, factors.values()))
    assert all(list(choice) == list(factors) for choice in choices)


@given(factors_and_exclusions())
def test_an_exclusion_takes_away_what_it_names_and_no_more(
    given_: tuple[dict[str, tuple[LevelValue, ...]], list[dict[str, LevelValue]]],
) -> None:
    factors, exclude = given_
    everything = list(kept_choices(factors, []))

    kept = list(kept_choices(factors, exclude))

    def is_named(choice: object) -> bool:
        items = set(map(str, choice.items()))  # type: ignore[attr-defined]
        return any(set(map(str, partial.items())) <= items for partial in exclude)

    assert kept == [choice for choice in everything if not is_named(choice)]


@given(FACTORS)
def test_no_two_arms_have_one_name(factors: Factors) -> None:
    names = [arm_name(factors, choice) for choice in kept_choices(factors, [])]

    assert len(set(names)) == len(names)


def test_true_is_not_one_and_text_is_its_number() -> None:
    assert not matches({"a": True}, {"a": 1})
    assert matches({"a": 264}, {"a": "264"})
    assert not matches({"a": 1}, {"b": 1})


def test_levels_are_completed_in_the_order_of_the_factors() -> None:
    factors: Factors = {"a": ("x", "y"), "b": (264,), "c": (1, 80)}

    completed = completed_levels(factors, {"c": "80", "a": "y"})

    assert list(completed.items()) == [("a", "y"), ("b", 264), ("c", 80)]
    with pytest.raises(KeyError):
        completed_levels(factors, {"a": "y"})
