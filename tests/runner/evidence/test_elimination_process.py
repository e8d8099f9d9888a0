import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.elimination_process import (
    clean_runs_needed,
    clean_sessions_needed,
    elimination_e_value,
    wedge_rate_limit,
)
from runner.evidence.silent_sessions import LaunchCounts


def clean(*sizes: int) -> list[LaunchCounts]:
    return [LaunchCounts(size, 0, 0) for size in sizes]


@given(
    st.lists(st.integers(1, 120), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.02, 0.05]),
    st.sampled_from([0.02, 0.05, 0.1]),
)
def test_it_reaches_twenty_exactly_when_the_limit_reaches_the_tolerated_rate(
    sizes: list[int], rho: float, p_max: float
) -> None:
    e_value = elimination_e_value(clean(*sizes), p_max=p_max, rho=rho)

    if abs(e_value - 20) > 1e-6:
        assert (e_value >= 20) is (clustered_upper_limit(0, sizes, rho=rho) <= p_max)


def test_it_dies_at_the_first_corrupt_session_and_counts_silence_as_one() -> None:
    assert elimination_e_value(clean(80, 80), p_max=0.05, rho=0.05) > 20
    corrupt = [*clean(80, 80), LaunchCounts(79, 1, 0)]
    silent = [*clean(80, 80), LaunchCounts(79, 0, 1)]
    assert elimination_e_value(corrupt, p_max=0.05, rho=0.05) == 0.0
    assert elimination_e_value(silent, p_max=0.05, rho=0.05) == 0.0


@pytest.mark.parametrize(
    ("p_max", "sessions", "runs_of_80", "runs_of_20"),
    [
        (0.10, 29, [1, 1, 1, 1, 2, 3], 3),
        (0.05, 59, [1, 1, 2, 2, 3, 5], 5),
        (0.03, 99, [2, 2, 3, 4, 5, 8], 8),
        (0.02, 149, [2, 3, 4, 5, 8, 12], 11),
        (0.01, 299, [4, 6, 7, 10, 15, 24], 22),
    ],
)
def test_what_a_tolerated_rate_needs_is_as_published(
    p_max: float, sessions: int, runs_of_80: list[int], runs_of_20: int
) -> None:
    correlations = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)

    assert clean_sessions_needed(p_max) == sessions
    assert [clean_runs_needed(p_max, sessions=80, rho=rho) for rho in correlations] == runs_of_80
    assert clean_runs_needed(p_max, sessions=20, rho=0.05) == runs_of_20


def test_runs_without_a_wedge_leave_much_room_for_wedges() -> None:
    limits = [round(wedge_rate_limit(runs), 2) for runs in (0, 1, 2, 3, 5, 10, 20)]

    assert limits == [1.0, 0.95, 0.78, 0.63, 0.45, 0.26, 0.14]


def test_independent_clean_sessions_multiply() -> None:
    e_value = elimination_e_value(clean(40, 19), p_max=0.05, rho=0.0)

    assert e_value == pytest.approx(0.95**-59) == pytest.approx(20.62, abs=5e-3)
    assert elimination_e_value([], p_max=0.05, rho=0.05) == 1.0


def test_more_clean_sessions_than_any_number_holds_are_a_large_number_and_no_error() -> None:
    assert elimination_e_value(clean(20_000), p_max=0.05, rho=0.0) >= 1e299
