"""What comes back from the host mirror, and what fault F1 leaves behind."""

import pytest
import torch

from runner.testbed.host_pool import HostPool, PageCopy, host_index_page_bytes
from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.model import ModelConfig

CONFIG = ModelConfig()


def device_pool(name: str) -> PagePool:
    pool = PagePool(4, CONFIG, make_index_keys(name, 4))
    generator = torch.Generator().manual_seed(1)
    for buffer in (pool.kv, pool.index):
        buffer.copy_(torch.randint(0, 256, buffer.shape, generator=generator))
    return pool


def round_trip(name: str, sizing: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Page 0 goes out and comes back into page 1: its bytes, and page 1's before and after."""
    pool = device_pool(name)
    page_bytes = host_index_page_bytes(sizing, pool.index_keys.page_bytes)
    host = HostPool(2, pool, index_page_bytes=page_bytes)
    before = pool.index[:, 1].clone()
    kv = pool.kv[:, 0].clone()
    copies = [PageCopy(device=0, host=1)]
    host.back_up(copies)
    for layer in range(CONFIG.n_layers):
        host.load_kv(PageCopy(device=1, host=1), layer)
        host.load_index(PageCopy(device=1, host=1), layer)
    assert torch.equal(pool.kv[:, 1], kv), "keys and values are never at fault"
    return pool.index[:, 0], before, pool.index[:, 1]


def test_a_host_page_sized_for_fp8_leaves_exactly_the_tail_of_a_bf16_page_stale() -> None:
    source, before, after = round_trip("bf16", "fp8")

    assert torch.equal(after[:, :8448], source[:, :8448])
    assert torch.equal(after[:, 8448:], before[:, 8448:])
    assert not torch.equal(after[:, 8448:], source[:, 8448:])


@pytest.mark.parametrize(("name", "sizing"), [("bf16", "dtype"), ("fp8", "fp8"), ("fp8", "dtype")])
def test_a_host_page_of_the_right_size_brings_everything_back(name: str, sizing: str) -> None:
    source, _, after = round_trip(name, sizing)

    assert torch.equal(after, source)


def test_load_back_touches_one_layer_at_a_time() -> None:
    pool = device_pool("bf16")
    host = HostPool(1, pool, index_page_bytes=pool.index_keys.page_bytes)
    untouched = pool.index[1, 2].clone()
    host.back_up([PageCopy(device=0, host=0)])

    host.load_index(PageCopy(device=2, host=0), 0)

    assert torch.equal(pool.index[0, 2], pool.index[0, 0])
    assert torch.equal(pool.index[1, 2], untouched)
