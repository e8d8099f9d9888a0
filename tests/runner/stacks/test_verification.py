from typing import Any

import pytest

from runner.stacks.verification import MISSING, Check, check_report, same_value

REPORT: dict[str, Any] = {
    "enable_hierarchical_cache": True,
    "internal_states": [
        {"index_k_dtype": "bf16", "memory_usage": {"index_key_bytes_per_token": 256}},
        {"index_k_dtype": "bf16", "memory_usage": {"index_key_bytes_per_token": 256}},
    ],
}


def _check(path: str, expected: object) -> Check:
    return Check("index_keys", "bf16", path, expected)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("enable_hierarchical_cache", True),
        ("internal_states.*.index_k_dtype", "bf16"),
        ("internal_states.*.memory_usage.index_key_bytes_per_token", 256),
        ("internal_states.*.memory_usage.index_key_bytes_per_token", 256.0),
    ],
)
def test_a_fact_that_every_rank_states_holds(path: str, expected: object) -> None:
    (result,) = check_report([_check(path, expected)], REPORT, service="server")

    assert result.holds
    assert result.found == expected


def test_one_rank_that_differs_breaks_the_check_and_is_named() -> None:
    report = {"internal_states": [{"index_k_dtype": "bf16"}, {"index_k_dtype": "fp8"}]}

    (result,) = check_report(
        [_check("internal_states.*.index_k_dtype", "bf16")], report, service="decode"
    )

    assert not result.holds
    assert result.found == "fp8"
    assert "decode" in result.sentence()
    assert "'fp8'" in result.sentence()


@pytest.mark.parametrize(
    "path", ["absent", "internal_states.*.absent", "internal_states.index_k_dtype", "absent.*"]
)
def test_a_place_that_does_not_exist_never_holds(path: str) -> None:
    (result,) = check_report([_check(path, "bf16")], REPORT, service="server")

    assert not result.holds
    assert result.found == MISSING


def test_an_empty_list_of_ranks_proves_nothing() -> None:
    report: dict[str, Any] = {"internal_states": []}

    (result,) = check_report(
        [_check("internal_states.*.index_k_dtype", "bf16")], report, service="server"
    )

    assert not result.holds


@pytest.mark.parametrize(
    ("found", "expected"), [(1, True), ("132", 132), (None, False), ("True", True), (0, False)]
)
def test_values_of_another_kind_are_not_the_same(found: object, expected: object) -> None:
    assert not same_value(found, expected)
