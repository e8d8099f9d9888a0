"""The ledger: a suspect is confirmed or ruled out by a verdict on the arm that changes it alone."""

from typing import Any

import pytest

from app.suspects import Standing, suspects
from db.reads.campaigns import ArmFacts, VerdictFacts
from tests.app.values import arm_facts, verdict_facts

BROKEN = {"index_keys": "bf16", "hicache": "on", "host_pool": "fp8-sized", "concurrency": 80}


def _arm(arm_id: int, **levels: Any) -> ArmFacts:
    return arm_facts(arm_id, levels=BROKEN | levels, is_baseline=not levels)


ARMS = [
    _arm(1),
    _arm(2, host_pool="dtype-aware"),
    _arm(3, hicache="off"),
    _arm(4, index_keys="fp8", hicache="off"),
]


def _verdict(number: int, arm: int, headline: str | None, **answers: Any) -> VerdictFacts:
    values = {"elimination": None, "direction": None, "sentence": "x", "decided_at_us": number}
    return verdict_facts(arm_id=arm, versus_arm_id=1, headline=headline, **{**values, **answers})


def test_without_a_verdict_every_varied_factor_is_open() -> None:
    found = {each.name: each for each in suspects(ARMS, [])}

    assert set(found) == {"hicache = on", "host_pool = fp8-sized", "index_keys = bf16"}
    assert {each.standing for each in found.values()} == {Standing.OPEN}
    assert found["hicache = on"].changed == ARMS[2]
    assert found["index_keys = bf16"].changed is None
    assert "No arm differs" in found["index_keys = bf16"].why


@pytest.mark.parametrize(
    ("headline", "elimination", "direction", "standing"),
    [
        ("confirmed", "confirmed", "lower", Standing.CONFIRMED),
        ("confirmed", "confirmed", "unclear", Standing.OPEN),
        ("refuted", "refuted", "unclear", Standing.RULED_OUT),
        ("worse", "refuted", "higher", Standing.RULED_OUT),
        ("refuted", "refuted", "lower", Standing.OPEN),
        ("improved_not_eliminated", "refuted", "lower", Standing.OPEN),
        ("inconclusive", "inconclusive", "unclear", Standing.OPEN),
        (None, None, None, Standing.OPEN),
    ],
)
def test_the_verdict_decides_the_standing(
    headline: str | None, elimination: str | None, direction: str | None, standing: Standing
) -> None:
    verdict = _verdict(1, 2, headline, elimination=elimination, direction=direction)

    (found,) = [each for each in suspects(ARMS, [verdict]) if each.by is not None]

    assert found.name == "host_pool = fp8-sized"
    assert found.standing is standing
    assert found.by == verdict


def test_an_exploratory_verdict_decides_nothing() -> None:
    verdict = _verdict(
        1, 2, "confirmed", elimination="confirmed", direction="lower", sentence="Exploratory: x"
    )

    (found,) = [each for each in suspects(ARMS, [verdict]) if each.by is not None]

    assert found.standing is Standing.OPEN


def test_levels_that_were_changed_together_are_one_suspect() -> None:
    verdict = _verdict(1, 4, "confirmed", elimination="confirmed", direction="lower")

    found = suspects(ARMS, [verdict])

    assert found[-1].name == "index_keys = bf16 and hicache = on"
    assert found[-1].standing is Standing.CONFIRMED
    assert [each.standing for each in found[:-1]] == [Standing.OPEN] * 3


def test_of_two_verdicts_on_a_suspect_the_decided_one_stands() -> None:
    decided = _verdict(1, 2, "refuted", elimination="refuted", direction="unclear")
    later = _verdict(2, 2, "inconclusive")

    (found,) = [each for each in suspects(ARMS, [decided, later]) if each.by is not None]

    assert found.by == decided


def test_a_verdict_on_other_arms_says_nothing_of_the_baseline() -> None:
    other = verdict_facts(arm_id=2, versus_arm_id=3, headline="confirmed")

    assert all(each.by is None for each in suspects(ARMS, [other]))


def test_without_a_baseline_there_is_no_suspect() -> None:
    assert suspects([arm_facts(1), arm_facts(2)], []) == []
