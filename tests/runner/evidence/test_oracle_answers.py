"""Hundreds of tables and dozens of verdicts against answers that share no code with ours."""

import json
import warnings
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.evidence_file import check_evidence
from runner.evidence.run_rate_test import Cluster
from runner.evidence.session_correlation import icc_anova
from tests.runner.evidence.oracle_answers import oracle_table, tables
from tests.runner.evidence.recorded_answers import ORACLE_TABLES, ORACLE_VERDICTS
from tests.runner.evidence.verdict_oracle import expected_of, session_icc

VERDICTS = json.loads(ORACLE_VERDICTS.read_text(encoding="utf-8"))


def test_every_quantity_of_every_table_is_that_of_the_oracles() -> None:
    check = check_evidence(ORACLE_TABLES.read_text(encoding="utf-8"))

    assert (check.differences, check.not_computed) == ((), ())
    assert (check.cases, check.right) == (340, 6267)


def test_every_verdict_is_that_of_the_rule_written_down_anew() -> None:
    check = check_evidence(ORACLE_VERDICTS.read_text(encoding="utf-8"))

    assert (check.differences, check.not_computed) == ((), ())
    assert (check.cases, check.right) == (40, 840)


def test_the_verdicts_have_every_headline() -> None:
    headlines = Counter(case["expected"]["headline"] for n, case in VERDICTS.items() if n != "meta")

    assert len(headlines) == 5, headlines


@pytest.mark.parametrize("number", [1, 30, 100, 220, 340])
def test_the_tables_are_what_the_oracles_give(number: int) -> None:
    recorded = json.loads(ORACLE_TABLES.read_text(encoding="utf-8"))["tables"][number - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        computed = oracle_table(number, list(tables())[number - 1])

    assert computed.keys() == recorded.keys()
    for name, value in computed["values"].items():
        given = recorded["values"][name]
        assert value == given or value == pytest.approx(given, rel=1e-8, abs=1e-10), name


def test_a_verdict_is_what_the_oracle_gives() -> None:
    case = VERDICTS["V01"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        computed = expected_of(case)

    numbers = {name: each for name, each in computed.items() if isinstance(each, float)}
    words = {name: each for name, each in computed.items() if isinstance(each, str | list)}
    given = case["expected"]
    assert numbers == pytest.approx({name: given[name] for name in numbers}, rel=1e-4)
    assert words == {name: given[name] for name in words}


clusters = st.integers(0, 40).flatmap(lambda n: st.integers(0, n).map(lambda k: (k, n)))
arms = st.lists(clusters, max_size=4)


@given(arms, arms)
def test_the_correlation_is_that_of_an_analysis_of_variance_on_single_sessions(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    estimate = icc_anova([[Cluster(*run) for run in arm] for arm in (first, second)])
    right = session_icc([first, second])

    assert estimate == (None if right is None else pytest.approx(right, abs=1e-9))
