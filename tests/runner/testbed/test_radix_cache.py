"""Who owns which page, whatever happens."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.testbed.host_pool import PageCopy
from runner.testbed.page_numbers import FreePages
from runner.testbed.radix_cache import Lease, Node, RadixCache

PAGE = 64


def prompt(*kinds: int, extra: int = 1) -> list[int]:
    """Full pages that differ by kind, then a few tokens that fill no page."""
    return [token for kind in kinds for token in [kind] * PAGE] + [0] * extra


def make(device: int, host: int | None) -> tuple[RadixCache, FreePages, FreePages | None]:
    free, free_host = FreePages(device), None if host is None else FreePages(host)
    return RadixCache(free, free_host), free, free_host


def compute(cache: RadixCache, tokens: list[int]) -> tuple[Lease, list[PageCopy]]:
    lease = cache.acquire(tokens)
    assert lease is not None
    return lease, cache.insert(tokens, lease)


def nodes(cache: RadixCache) -> list[Node]:
    found, queue = [], [*cache._root.children.values()]
    while queue:
        node = queue.pop()
        found.append(node)
        queue += node.children.values()
    return found


def test_a_second_request_finds_the_full_pages_of_the_first() -> None:
    cache, *_ = make(8, None)
    first, _ = compute(cache, prompt(1, 2))
    cache.release(first)

    second = cache.acquire(prompt(1, 3))

    assert second is not None
    assert second.cached_tokens == PAGE
    assert second.host_tokens == 0


def test_one_token_is_always_left_to_compute() -> None:
    cache, *_ = make(8, None)
    lease, _ = compute(cache, prompt(1, 2, extra=0))
    cache.release(lease)

    again = cache.acquire(prompt(1, 2, extra=0))

    assert again is not None
    assert again.cached_tokens == PAGE


def test_the_least_recently_used_leaf_goes_first() -> None:
    cache, *_ = make(4, None)
    for kind in (1, 2):
        lease, _ = compute(cache, prompt(kind))
        cache.release(lease)
    touched = cache.acquire(prompt(1))
    assert touched is not None
    cache.release(touched)

    lease, _ = compute(cache, prompt(3, 4))

    assert {node.key[0] for node in nodes(cache)} >= {1, 3, 4}
    assert 2 not in {node.key[0] for node in nodes(cache)}
    cache.release(lease)


def test_an_evicted_page_comes_back_from_the_host_into_another_device_page() -> None:
    cache, *_ = make(3, 8)
    lease, backed_up = compute(cache, prompt(1))
    cache.release(lease)
    other, _ = compute(cache, prompt(2, 3))
    cache.release(other)

    again = cache.acquire(prompt(1))

    assert again is not None
    assert again.host_tokens == PAGE
    assert again.loads[0].host == backed_up[0].host
    assert again.page_table[0] == again.loads[0].device


def test_without_a_host_an_evicted_page_is_forgotten() -> None:
    cache, *_ = make(3, None)
    lease, backed_up = compute(cache, prompt(1))
    cache.release(lease)
    cache.release(compute(cache, prompt(2, 3))[0])

    again = cache.acquire(prompt(1))

    assert backed_up == []
    assert again is not None
    assert again.cached_tokens == 0


def test_locked_pages_cannot_be_evicted_and_the_request_has_to_wait() -> None:
    cache, free, _ = make(3, None)
    lease, _ = compute(cache, prompt(1, 2))

    assert cache.acquire(prompt(5)) is None
    cache.release(lease)
    assert cache.acquire(prompt(5)) is not None
    assert len(free) == 0


def test_two_requests_that_compute_the_same_page_leave_it_once() -> None:
    cache, free, _ = make(8, None)
    first, second = cache.acquire(prompt(1)), cache.acquire(prompt(1))
    assert first is not None and second is not None

    cache.insert(prompt(1), first)
    cache.insert(prompt(1), second)
    cache.release(first)
    cache.release(second)

    assert len(nodes(cache)) == 1
    assert len(free) == 7


def check_ownership(
    cache: RadixCache, free: FreePages, host: FreePages | None, leases: list[Lease]
) -> None:
    tree = nodes(cache)
    in_tree = [node.device for node in tree if node.device is not None]
    in_leases = [page for lease in leases for page in lease.own_pages]
    owned = [*free.snapshot(), *in_tree, *in_leases]
    assert sorted(owned) == list(range(free.total)), "a device page has not exactly one owner"
    if host is not None:
        on_host = [node.host for node in tree if node.host is not None]
        assert sorted([*host.snapshot(), *on_host]) == list(range(host.total))
    for node in tree:
        assert node.device is not None or node.host is not None
        assert node.locks == sum(node in lease.nodes for lease in leases)
        parent = node.parent
        if parent is not None:
            assert node.device is None or parent.device is not None
            assert node.host is None or parent.host is not None


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    device=st.integers(4, 12),
    host=st.one_of(st.none(), st.integers(1, 12)),
)
def test_every_page_has_one_owner_at_any_time(seed: int, device: int, host: int | None) -> None:
    rng = random.Random(seed)
    cache, free, free_host = make(device, host)
    leases: list[Lease] = []
    for _ in range(80):
        if leases and rng.random() < 0.45:
            cache.release(leases.pop(rng.randrange(len(leases))))
        else:
            tokens = prompt(
                *(rng.randrange(3) for _ in range(rng.randrange(4))), extra=rng.randrange(1, 64)
            )
            lease = cache.acquire(tokens)
            if lease is not None:
                leases.append(lease)
                assert len(lease.page_table) == -(-len(tokens) // PAGE)
                check_ownership(cache, free, free_host, leases)
                if rng.random() < 0.9:
                    cache.insert(tokens, lease)
        check_ownership(cache, free, free_host, leases)
    for lease in leases:
        cache.release(lease)
    check_ownership(cache, free, free_host, [])
    cache.flush()
    assert len(free) == device
    assert nodes(cache) == []


@pytest.mark.parametrize("count", [1, 5])
def test_free_pages_rest_as_long_as_possible(count: int) -> None:
    free = FreePages(count)
    taken = [free.take() for _ in range(count)]
    for page in reversed(taken):
        free.give_back(page)

    assert [free.take() for _ in range(count)] == taken[::-1]
