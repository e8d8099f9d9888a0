"""The bytes of index-key pages."""

import pytest
import torch

from runner.testbed.index_keys import (
    E4M3_EXPANSION,
    PAGE_TOKENS,
    Bf16IndexKeys,
    Fp8IndexKeys,
    expand_e4m3,
    make_index_keys,
)


@pytest.mark.parametrize(("name", "bytes_per_token"), [("fp8", 132), ("bf16", 256)])
def test_a_token_takes_the_bytes_of_the_real_layouts(name: str, bytes_per_token: int) -> None:
    assert make_index_keys(name, 1).page_bytes == bytes_per_token * PAGE_TOKENS


def test_e4m3_expands_to_what_torch_makes_of_it() -> None:
    every_byte = torch.arange(256, dtype=torch.uint8)
    finite = every_byte[(every_byte & 0x7F) != 0x7F][None]  # the two NaN patterns are never stored
    out = torch.empty(finite.shape)

    expand_e4m3(finite, torch.empty(finite.shape, dtype=torch.int16), out)

    assert torch.equal(out * E4M3_EXPANSION, finite.view(torch.float8_e4m3fn).float())


def test_fp8_keys_and_scales_lie_where_the_real_pool_has_them() -> None:
    keys = torch.randn(PAGE_TOKENS, 128)
    pages = torch.zeros(2, 8448, dtype=torch.uint8)
    where = (torch.ones(PAGE_TOKENS, dtype=torch.long), torch.arange(PAGE_TOKENS))

    Fp8IndexKeys(1).write(pages, where, keys)

    raw = pages[1]
    scale = raw[8192 + 4 * 5 : 8192 + 4 * 6].view(torch.float32)
    stored = raw[5 * 128 : 6 * 128].view(torch.float8_e4m3fn).float()
    assert scale.item() == pytest.approx(keys[5].abs().max().item() / 448)
    assert torch.allclose(stored * scale, keys[5], rtol=0.07, atol=float(scale) * 2**-9)
    assert pages[0].count_nonzero() == 0


def test_bf16_keys_fill_the_page_token_by_token() -> None:
    keys = torch.randn(PAGE_TOKENS, 128)
    pages = torch.zeros(1, 16384, dtype=torch.uint8)
    where = (torch.zeros(PAGE_TOKENS, dtype=torch.long), torch.arange(PAGE_TOKENS))

    Bf16IndexKeys(1).write(pages, where, keys)

    assert torch.equal(pages[0, 7 * 256 : 8 * 256].view(torch.bfloat16), keys[7].bfloat16())


@pytest.mark.parametrize(("name", "tolerance"), [("bf16", 0.01), ("fp8", 0.06)])
def test_scores_are_products_with_the_stored_keys(name: str, tolerance: float) -> None:
    n_tokens = 100
    index_keys = make_index_keys(name, 2)
    keys, queries = torch.randn(n_tokens, 128), torch.randn(3, 128)
    pages = torch.zeros(2, index_keys.page_bytes, dtype=torch.uint8)
    slots = torch.arange(n_tokens)
    index_keys.write(pages, (slots // PAGE_TOKENS, slots % PAGE_TOKENS), keys)
    out = torch.empty(3, n_tokens)

    index_keys.dot(queries, pages, out)

    expected = queries @ keys.t()
    assert (out - expected).norm() < tolerance * expected.norm()
