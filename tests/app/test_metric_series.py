"""Samples become lines: engines are added up, ranks are not, and missing is not zero."""

from typing import Any

import pandas as pd

from app.metric_series import in_flight, request_series

RUNNING = "sglang:num_running_reqs"
QUEUED = "sglang:num_queue_reqs"
S = 1_000_000


def samples(*rows: tuple[str, int, float, dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"service": "server", "name": name, "at_us": at_us, "value": value, "labels": labels}
            for name, at_us, value, labels in rows
        ],
        columns=["service", "at_us", "name", "labels", "value"],
    )


def test_seconds_count_from_the_first_request() -> None:
    lines = request_series(samples((RUNNING, 12 * S, 3.0, {})), origin_us=10 * S)

    assert lines.values.tolist() == [["running", 2.0, 3.0]]


def test_ranks_that_repeat_a_number_are_counted_once() -> None:
    lines = request_series(
        samples((RUNNING, S, 4.0, {"tp_rank": "0"}), (RUNNING, S, 4.0, {"tp_rank": "1"})),
        origin_us=0,
    )

    assert lines["value"].tolist() == [4.0]


def test_engines_of_one_kind_are_added_up() -> None:
    lines = request_series(
        samples((RUNNING, S, 4.0, {"dp_rank": "0"}), (RUNNING, S, 3.0, {"dp_rank": "1"})),
        origin_us=0,
    )

    assert lines["value"].tolist() == [7.0]


def test_prefill_and_decode_stay_apart() -> None:
    lines = request_series(
        samples(
            (RUNNING, S, 4.0, {"engine_type": "prefill"}),
            (RUNNING, S, 3.0, {"engine_type": "decode"}),
        ),
        origin_us=0,
    )

    assert set(lines["series"]) == {"running · prefill", "running · decode"}


def test_a_gauge_that_stays_at_zero_is_left_out() -> None:
    lines = request_series(
        samples((RUNNING, S, 4.0, {}), (QUEUED, S, 0.0, {}), (QUEUED, 2 * S, 0.0, {})),
        origin_us=0,
    )

    assert set(lines["series"]) == {"running"}


def test_series_that_count_no_requests_are_left_out() -> None:
    assert request_series(samples(("sglang:token_usage", S, 0.4, {})), origin_us=0).empty


def test_sessions_in_flight_step_up_and_down() -> None:
    spans = pd.DataFrame({"started_at_us": [0, S], "ended_at_us": [2 * S, 3 * S]})

    lines = in_flight(spans, origin_us=0)

    assert lines["seconds"].tolist() == [0, 1, 2, 3]
    assert lines["value"].tolist() == [1, 2, 1, 0]


def test_sessions_that_have_not_ended_are_in_flight_all_along() -> None:
    spans = pd.DataFrame({"started_at_us": [0], "ended_at_us": [2 * S]})

    assert in_flight(spans, origin_us=0, open_sessions=5)["value"].tolist() == [6, 5]


def test_a_closed_loop_never_shows_more_in_flight_than_its_concurrency() -> None:
    spans = pd.DataFrame({"started_at_us": [0, 2 * S], "ended_at_us": [2 * S, 3 * S]})

    lines = in_flight(spans, origin_us=0, open_sessions=1, concurrency=1, until_s=5.0)

    assert lines["seconds"].tolist() == [0, 2, 3, 5]
    assert lines["value"].tolist() == [1, 1, 1, 1]


def test_one_session_at_a_time_is_one_step_from_the_first_to_the_last() -> None:
    spans = pd.DataFrame({"started_at_us": [0, 2 * S], "ended_at_us": [2 * S, 3 * S]})

    assert in_flight(spans, origin_us=0)["value"].tolist() == [1, 1, 0]


def test_no_session_is_an_empty_line() -> None:
    spans = pd.DataFrame({"started_at_us": [], "ended_at_us": []})

    assert in_flight(spans, origin_us=0).empty
