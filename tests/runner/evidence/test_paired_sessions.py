import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar

from db.vocabulary import OutcomeClass
from runner.evidence.paired_sessions import (
    mcnemar_less,
    mcnemar_less_worst_case,
    mcnemar_two_sided,
    pair_sessions,
)

CLEAN, CORRUPT = OutcomeClass.CLEAN, OutcomeClass.CORRUPT
SILENT, OURS = OutcomeClass.SILENT, OutcomeClass.OURS


def paired(*pairs: tuple[OutcomeClass, OutcomeClass]) -> object:
    first = {str(i): pair[0] for i, pair in enumerate(pairs)}
    second = {str(i): pair[1] for i, pair in enumerate(pairs)}
    return pair_sessions(first, second)


def test_dialogues_are_paired_by_key_and_only_evidence_in_both_arms_counts() -> None:
    pairs = pair_sessions(
        {"a": CLEAN, "b": CORRUPT, "c": CLEAN, "d": SILENT, "e": OURS, "f": CLEAN},
        {"a": CLEAN, "b": CORRUPT, "c": CORRUPT, "d": CORRUPT, "e": SILENT},
    )

    assert (pairs.both_clean, pairs.both_corrupt) == (1, 1)
    assert (pairs.only_first_corrupt, pairs.only_second_corrupt) == (0, 1)
    assert pairs.silent_pairs == 1


def test_it_is_the_exact_test_of_statsmodels() -> None:
    first = {str(i): CORRUPT if i < 2 else CLEAN for i in range(40)}
    second = {str(i): CORRUPT if 2 <= i < 13 else CLEAN for i in range(40)}
    pairs = pair_sessions(first, second)

    right = mcnemar([[0, 2], [11, 27]], exact=True).pvalue

    assert mcnemar_two_sided(pairs) == pytest.approx(right)
    assert mcnemar_less(pairs) == pytest.approx(binomtest(2, 13, alternative="less").pvalue)


def test_silent_pairs_count_against_the_claim() -> None:
    first = {str(i): SILENT if i < 6 else CLEAN for i in range(20)}
    second = {str(i): CLEAN if i < 6 else CORRUPT for i in range(20)}
    pairs = pair_sessions(first, second)

    assert mcnemar_less(pairs) < 0.001
    assert mcnemar_less_worst_case(pairs) == pytest.approx(
        binomtest(6, 20, alternative="less").pvalue
    )


def test_no_discordant_pair_shows_nothing() -> None:
    pairs = pair_sessions({"a": CLEAN}, {"a": CLEAN})

    assert mcnemar_less(pairs) == mcnemar_two_sided(pairs) == 1.0
