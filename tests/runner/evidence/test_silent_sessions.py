import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.evidence.silent_sessions import (
    LaunchCounts,
    SilentPolicy,
    exact_bounds,
    rate_bounds,
    silent_sessions_borne,
    upper_limits,
)
from tests.runner.evidence.table_oracles import correlated_upper

launches = st.lists(
    st.builds(LaunchCounts, st.integers(0, 40), st.integers(0, 10), st.integers(0, 20)).filter(
        lambda counts: counts.sessions > 0
    ),
    min_size=1,
    max_size=3,
)

REAL_CASE = [LaunchCounts(clean=0, corrupt=5, silent=75)]


def test_the_real_case_lies_between_five_of_eighty_and_all() -> None:
    bounds = rate_bounds(REAL_CASE)

    assert (bounds.low.value, bounds.high.value) == (0.0625, 1.0)
    assert exact_bounds(bounds) == pytest.approx((0.0206, 1.0), abs=5e-5)


@given(launches, st.data())
def test_the_bounds_contain_every_completion_of_the_silent_sessions(
    counts: list[LaunchCounts], data: st.DataObject
) -> None:
    turned_corrupt = [data.draw(st.integers(0, launch.silent)) for launch in counts]
    corrupt = sum(x.corrupt for x in counts) + sum(turned_corrupt)
    rate = corrupt / sum(x.sessions for x in counts)

    low, high = rate_bounds(counts)

    assert low.value <= rate <= high.value


@settings(deadline=None, max_examples=60)
@given(launches, st.data(), st.floats(0.0, 0.2))
def test_the_worst_case_limit_holds_for_every_completion(
    counts: list[LaunchCounts], data: st.DataObject, rho: float
) -> None:
    worst = upper_limits(counts, rho=rho, benign=False, baseline_rate=0.0)
    completed = []
    for launch in counts:
        corrupt = data.draw(st.integers(0, launch.silent))
        completed.append(
            LaunchCounts(launch.clean + launch.silent - corrupt, launch.corrupt + corrupt, 0)
        )
    limit = upper_limits(completed, rho=rho, benign=False, baseline_rate=0.0)

    assert limit.policy is SilentPolicy.NONE_NEEDED
    assert limit.used <= worst.worst_case + 1e-9


def test_silence_that_may_be_benign_counts_as_the_baseline() -> None:
    counts = [LaunchCounts(clean=78, corrupt=0, silent=2), LaunchCounts(80, 0, 0)]

    benign = upper_limits(counts, rho=0.02, benign=True, baseline_rate=0.15)
    hostile = upper_limits(counts, rho=0.02, benign=False, baseline_rate=0.15)

    assert benign.policy is SilentPolicy.JUMP_TO_BASELINE
    assert benign.used == pytest.approx((158 * benign.evidence_only + 2 * 0.15) / 160)
    assert hostile.policy is SilentPolicy.WORST_CASE
    assert hostile.used == hostile.worst_case > benign.used


def test_a_run_of_nothing_but_silence_excludes_no_rate() -> None:
    limits = upper_limits([LaunchCounts(0, 0, 80)], rho=0.05, benign=False, baseline_rate=0.15)

    assert limits.used == limits.evidence_only == 1.0


# Sessions needed with 0, 1, 2, 4, 8 silent ones for 5 %, computed elsewhere, rho = 0.
@pytest.mark.parametrize(
    ("silent", "hostile", "benign"), [(0, 59, 59), (1, 93, 65), (2, 124, 70), (4, 181, 80)]
)
def test_the_sessions_that_a_limit_needs_are_as_published(
    silent: int, hostile: int, benign: int
) -> None:
    def limit(sessions: int, *, is_benign: bool) -> float:
        counts = [LaunchCounts(sessions - silent, 0, silent)]
        return upper_limits(counts, rho=0.0, benign=is_benign, baseline_rate=0.15).used

    assert limit(hostile, is_benign=False) <= 0.05 < limit(hostile - 1, is_benign=False)
    assert limit(benign, is_benign=True) <= 0.05 < limit(benign, is_benign=False) + (silent == 0)


def test_two_clean_runs_bear_eight_benign_silences_and_one_of_unknown_cause() -> None:
    assert silent_sessions_borne([80, 80], p_max=0.05, rho=0.02, baseline_rate=0.15) == 8
    assert silent_sessions_borne([80, 80], p_max=0.05, rho=0.02) == 1
    assert silent_sessions_borne([80], p_max=0.05, rho=0.05) is None


@pytest.mark.parametrize("sessions", [59, 60, 62, 65, 80, 100, 160])
def test_benign_silence_is_borne_until_the_jump_to_the_baseline_passes_the_limit(
    sessions: int,
) -> None:
    def limit(silent: int) -> float:
        evidence = sessions - silent
        return (evidence * (1 - 0.05 ** (1 / evidence)) + silent * 0.15) / sessions

    most = silent_sessions_borne([sessions], p_max=0.05, rho=0.0, baseline_rate=0.15, tolerated=0.5)

    assert most == max(e for e in range(sessions // 2) if limit(e) <= 0.05)
    assert silent_sessions_borne([58], p_max=0.05, rho=0.0, baseline_rate=0.15) is None


def test_benign_silence_is_spread_evenly_over_correlated_runs() -> None:
    """As few evidence sessions are left in each run as the spread allows, by another law."""
    sizes, baseline = [40, 80], 0.3

    def limit(silent: int) -> float:
        left = [40 - (silent + 1) // 2, 80 - silent // 2]
        evidence = correlated_upper(0, left, 0.02)
        return ((120 - silent) * evidence + silent * baseline) / 120

    right = max(e for e in range(20) if limit(e) <= 0.08)
    most = silent_sessions_borne(sizes, p_max=0.08, rho=0.02, baseline_rate=baseline, tolerated=0.5)

    assert most == right > 1
    at_edge = limit(3)
    for shift, borne in ((1e-9, 3), (-1e-9, 2)):
        most = silent_sessions_borne(
            sizes, p_max=at_edge + shift, rho=0.02, baseline_rate=baseline, tolerated=0.5
        )
        assert most == borne


def test_the_tolerated_share_is_a_twentieth_and_includes_its_edge() -> None:
    ample = {"p_max": 0.9, "rho": 0.0, "baseline_rate": 0.1}

    assert silent_sessions_borne([160], **ample) == 8
    assert silent_sessions_borne([159], **ample) == 7
    assert silent_sessions_borne([100], **ample, tolerated=0.29) == 29
