from typing import Any

import pytest

from runner.campaign.level_effect import LevelCheck
from runner.stacks.verification import (
    MISSING,
    UNREADABLE,
    Check,
    CheckResult,
    Statement,
    check_statement,
    same_value,
)

REPORT: dict[str, Any] = {
    "enable_hierarchical_cache": True,
    "internal_states": [
        {"index_k_dtype": "bf16", "memory_usage": {"index_key_bytes_per_token": 256}},
        {"index_k_dtype": "bf16", "memory_usage": {"index_key_bytes_per_token": 256}},
    ],
}


def check(wanted: LevelCheck, statement: Statement, *, service: str = "server") -> CheckResult:
    (result,) = check_statement([Check("index_keys", "bf16", wanted)], statement, service=service)
    return result


def check_report(
    path: str, expected: Any, report: dict[str, Any], *, service: str = "server"
) -> CheckResult:
    wanted = LevelCheck(server_info=path, equals=expected)
    return check(wanted, Statement(server_info=report), service=service)


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
    result = check_report(path, expected, REPORT)

    assert result.holds
    assert result.found == expected


def test_one_rank_that_differs_breaks_the_check_and_is_named() -> None:
    report = {"internal_states": [{"index_k_dtype": "bf16"}, {"index_k_dtype": "fp8"}]}

    result = check_report("internal_states.*.index_k_dtype", "bf16", report, service="decode")

    assert not result.holds
    assert result.found == "fp8"
    assert "decode" in result.sentence()
    assert "'fp8'" in result.sentence()


@pytest.mark.parametrize(
    "path", ["absent", "internal_states.*.absent", "internal_states.index_k_dtype", "absent.*"]
)
def test_a_place_that_does_not_exist_never_holds(path: str) -> None:
    result = check_report(path, "bf16", REPORT)

    assert not result.holds
    assert result.found == MISSING


def test_an_empty_list_of_ranks_proves_nothing() -> None:
    report: dict[str, Any] = {"internal_states": []}

    result = check_report("internal_states.*.index_k_dtype", "bf16", report)

    assert not result.holds


@pytest.mark.parametrize(
    ("found", "expected"), [(1, True), ("132", 132), (None, False), ("True", True), (0, False)]
)
def test_values_of_another_kind_are_not_the_same(found: object, expected: object) -> None:
    assert not same_value(found, expected)


LOG = """\
[2026-08-22 09:15:02] Setting KV cache dtype to bfloat16 for DeepSeek DSA on SM9 device.
INFO 08-22 09:15:09 GPU KV cache size: 1,310,720 tokens
"""


@pytest.mark.parametrize(
    "wanted",
    [
        LevelCheck(log="KV cache dtype to bfloat16"),
        LevelCheck(log=r"KV cache dtype to (\w+)", equals="bfloat16"),
        LevelCheck(log=r"KV cache size: ([\d,]+) tokens", equals=1310720),
        LevelCheck(log=r"KV cache size: ([\d,]+) tokens", at_least=1_000_000, at_most=2_000_000),
        LevelCheck(log="host memory for DSA indexer", absent=True),
    ],
)
def test_a_line_of_the_start_can_prove_a_level(wanted: LevelCheck) -> None:
    assert check(wanted, Statement(log=LOG)).holds


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (LevelCheck(log="host memory for DSA indexer"), MISSING),
        (LevelCheck(log=r"KV cache dtype to (\w+)", equals="fp8"), "bfloat16"),
        (LevelCheck(log=r"KV cache size: ([\d,]+) tokens", at_least=2e6), "1,310,720"),
        (LevelCheck(log=r"KV cache dtype to (\w+)", at_least=1), "bfloat16"),
        (LevelCheck(log="KV cache dtype to (b.*)16", absent=True), "bfloat"),
    ],
)
def test_a_log_that_says_otherwise_is_quoted(wanted: LevelCheck, found: str) -> None:
    result = check(wanted, Statement(log=LOG))

    assert (result.holds, result.found) == (False, found)


def test_a_size_is_held_against_bounds_on_every_rank() -> None:
    report = {"ranks": [{"tokens": 16896}, {"tokens": 7680}]}

    result = check(
        LevelCheck(server_info="ranks.*.tokens", at_least=10_000), Statement(server_info=report)
    )

    assert not result.holds
    assert result.sentence() == (
        "index_keys=bf16 on server: ranks.*.tokens should be 'at least 10000', found 7680"
    )


def test_true_is_no_size() -> None:
    wanted = LevelCheck(server_info="tokens", at_least=0)

    assert not check(wanted, Statement(server_info={"tokens": True})).holds


@pytest.mark.parametrize("report", [{}, {"storage": None}, {"ranks": []}])
def test_what_is_null_or_not_there_is_absent(report: dict[str, Any]) -> None:
    assert check(
        LevelCheck(server_info="storage", absent=True), Statement(server_info=report)
    ).holds


def test_what_is_there_is_not_absent() -> None:
    wanted = LevelCheck(server_info="storage", absent=True)

    result = check(wanted, Statement(server_info={"storage": "file"}))

    assert (result.holds, result.found) == (False, "file")


@pytest.mark.parametrize(
    ("value", "equals", "holds"), [("1", 1, True), ("true", True, True), ("10", 1, False)]
)
def test_a_variable_of_the_process_is_text_that_may_be_a_number(
    value: str, equals: Any, holds: bool
) -> None:
    wanted = LevelCheck(environment="SGLANG_RETRACT", equals=equals)

    assert check(wanted, Statement(environment={"SGLANG_RETRACT": value})).holds is holds


def test_a_source_that_could_not_be_read_proves_neither_presence_nor_absence() -> None:
    for wanted in (LevelCheck(log="x"), LevelCheck(log="x", absent=True)):
        result = check(wanted, Statement())

        assert (result.holds, result.found) == (False, UNREADABLE)
