"""What came out of the caches during a run, as the servers counted it."""

from runner.observe.exposition import Sample, read_exposition
from runner.stacks.exposure import cache_use


def samples(text: str) -> tuple[Sample, ...]:
    return tuple(read_exposition(text.encode()))


def test_tokens_are_told_by_the_cache_that_they_came_from() -> None:
    before = samples('sglang:cached_tokens_total{cache_source="device"} 100\n')
    after = samples(
        'sglang:cached_tokens_total{cache_source="device"} 350\n'
        'sglang:cached_tokens_total{cache_source="host"} 64\n'
        'sglang:load_back_tokens_total{pool="kv"} 64\n'
        'sglang:load_back_tokens_total{pool="indexer"} 64\n'
    )

    assert cache_use(before=before, after=after) == {
        "device_cached_tokens": 250,
        "host_cached_tokens": 64,
        "loaded_back_tokens": 128,
    }


def test_what_is_not_counted_is_left_out_and_no_zero() -> None:
    page = samples("vllm:prefix_cache_hits_total 7\n")

    assert cache_use(before=page, after=page) == {"prefix_hit_tokens": 0}
    assert cache_use(before=(), after=()) == {}
