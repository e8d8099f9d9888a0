import pytest

from runner.observe.scrape import counter_total, parse_scrape, running_requests

SCRAPE = b"""# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="decode",tp_rank="0",dp_rank="0"} 5.0
sglang:num_running_reqs{engine_type="decode",tp_rank="1",dp_rank="0"} 5.0
sglang:num_running_reqs{engine_type="decode",tp_rank="0",dp_rank="1"} 2.0
sglang:num_running_reqs{engine_type="prefill",tp_rank="0"} 1.0
# TYPE sglang:cached_tokens_total counter
sglang:cached_tokens_total{cache_source="host"} 128.0
sglang:cached_tokens_total{cache_source="device"} 640.0
# TYPE python_info gauge
python_info{version="3"} 1.0
"""


def test_ranks_of_one_tensor_parallel_group_are_counted_once() -> None:
    assert running_requests(parse_scrape(SCRAPE)) == 7.0


def test_a_prefill_engine_alone_is_still_read() -> None:
    scrape = b'sglang:num_running_reqs{engine_type="prefill"} 3.0\n'

    assert running_requests(parse_scrape(scrape)) == 3.0


def test_a_counter_is_read_for_the_labels_asked_for() -> None:
    samples = parse_scrape(SCRAPE)

    host = counter_total(samples, "sglang:cached_tokens_total", labels={"cache_source": "host"})

    assert host == 128.0


def test_a_series_that_is_not_there_is_missing_and_not_zero() -> None:
    samples = parse_scrape(b"")

    assert running_requests(samples) is None
    assert counter_total(samples, "sglang:cached_tokens_total", labels={}) is None


def test_series_that_nobody_reads_are_left_to_the_raw_scrape() -> None:
    assert {sample.name for sample in parse_scrape(SCRAPE)} == {
        "sglang:num_running_reqs",
        "sglang:cached_tokens_total",
    }


def test_a_body_that_is_no_scrape_raises_a_value_error() -> None:
    with pytest.raises(ValueError):
        parse_scrape(b"<html>502 Bad Gateway</html>")
