"""Seconds count from the first request of the run."""

import pandas as pd

from app.run_clock import elapsed_s, open_sessions, run_origin_us
from db.vocabulary import RunState
from tests.app.values import SECOND_US, run_counts

NO_SPANS = pd.DataFrame({"started_at_us": []})


def test_the_first_request_is_the_origin() -> None:
    spans = pd.DataFrame({"started_at_us": [7, 5, 9]})

    assert run_origin_us(run_counts(driving_at_us=1), spans) == 5


def test_before_a_session_has_ended_driving_is_the_origin() -> None:
    assert run_origin_us(run_counts(driving_at_us=4, started_at_us=2), NO_SPANS) == 4
    assert run_origin_us(run_counts(planned_at_us=1), NO_SPANS) == 1


def test_a_run_in_work_lasts_until_now() -> None:
    run = run_counts(state=RunState.DRIVING, driving_at_us=2 * SECOND_US)

    assert elapsed_s(run, now_us=5 * SECOND_US) == 3.0


def test_a_run_that_has_not_driven_has_no_wall_time() -> None:
    assert elapsed_s(run_counts(state=RunState.APPLYING), now_us=9) is None


def test_sessions_in_flight_are_no_more_than_what_is_left() -> None:
    run = run_counts(state=RunState.DRIVING, driving_at_us=1, n_ended=75)

    assert open_sessions(run, concurrency=80) == 5
    assert open_sessions(run_counts(n_ended=75), concurrency=80) == 0
