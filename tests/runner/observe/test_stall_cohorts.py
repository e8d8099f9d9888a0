from runner.observe.stall_cohorts import (
    Stall,
    silences_of_answer,
    stall_cohorts,
    stalls_of_reads,
)


def test_a_pause_counts_from_the_request_and_between_reads() -> None:
    stalls = stalls_of_reads("a", 100.0, [6.0, 6.1, 20.0])

    assert [(stall.began_s, stall.released_s) for stall in stalls] == [(100, 106), (106.1, 120)]


def test_sessions_that_were_released_together_are_a_cohort() -> None:
    together = [
        Stall("r1-s8-t0", 0, 10.0),
        Stall("r1-s2-t1", 3, 10.04),
        Stall("r1-s3-t0", 0, 12.0),
    ]

    (cohort,) = stall_cohorts(together)

    assert cohort.to_json() == {
        "requests": ["r1-s8-t0", "r1-s2-t1"],
        "session_indices": [2, 8],
        "released_at_us": 10_000_000,
        "spread_ms": 40.0,
        "longest_s": 10.0,
    }


def test_stalls_that_end_one_after_the_other_are_none() -> None:
    assert stall_cohorts([Stall(name, 0, 10 + at) for at, name in enumerate("abc")]) == ()


def test_two_pauses_of_one_request_are_no_cohort() -> None:
    assert stall_cohorts([Stall("a", 0, 10), Stall("a", 1, 10.01)]) == ()


def test_the_wait_at_the_end_of_an_answer_that_never_went_on_is_a_silence() -> None:
    silences = silences_of_answer("a", 100.0, [0.5, 3.0], 23.0)

    assert [(each.began_s, each.released_s) for each in silences] == [(100.5, 103), (103, 123)]
    assert [each.released_s for each in silences_of_answer("a", 100.0, [], 20.0)] == [120]
