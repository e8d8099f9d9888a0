"""How fast a CUDA device decodes, and how fast bytes come to it from pinned memory.

The second is the ceiling that load-backs are held against: one big copy, and copies page by page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from runner.testbed.host_pool import HostPool, PageCopy
from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool, zeroed_on
from runner.testbed.model import FusedModel
from runner.testbed.paged_forward import DecodeRow, decode_step

_SLOT_PAGES = 8
_N_TOKENS = 300
_BIG_BYTES = 1 << 30
_REPEATS = 30


def measure_speed(model: FusedModel) -> dict[str, Any]:
    """Medians. Decode steps are those of the engine without its scheduling."""
    return {
        "decode": [
            decode_speed(model, n_rows, name) for n_rows in (1, 80, 500) for name in ("bf16", "fp8")
        ],
        "copy_ceiling_gb_per_s": copy_ceiling_gb_per_s(),
        "page_copies_gb_per_s": page_copies_gb_per_s(model),
    }


def decode_speed(model: FusedModel, n_rows: int, index_k_dtype: str) -> dict[str, Any]:
    """Tokens per second of decode steps of so many rows, each `_N_TOKENS` long."""
    pool = PagePool(
        n_rows * _SLOT_PAGES,
        model.config,
        make_index_keys(index_k_dtype, _SLOT_PAGES),
        allocate=zeroed_on(model.device),
    )
    rows = [DecodeRow((1, 2, 3), _N_TOKENS - 1, row * _SLOT_PAGES) for row in range(n_rows)]
    seconds = []
    for _ in range(_REPEATS):
        started_s = time.perf_counter()
        decode_step(model, pool, rows, topk=model.config.topk)  # ends with the tokens on the host
        seconds.append(time.perf_counter() - started_s)
    step_s = sorted(seconds)[_REPEATS // 2]
    return {
        "rows": n_rows,
        "index_k_dtype": index_k_dtype,
        "step_ms": round(step_s * 1e3, 3),
        "tokens_per_s": round(n_rows / step_s),
    }


def copy_ceiling_gb_per_s() -> float:
    """One copy of a GiB from pinned memory."""
    source = torch.zeros(_BIG_BYTES, dtype=torch.uint8, pin_memory=True)
    target = torch.empty(_BIG_BYTES, dtype=torch.uint8, device="cuda")
    return _median_gb_per_s(lambda: target.copy_(source, non_blocking=True), _BIG_BYTES)


def page_copies_gb_per_s(model: FusedModel, n_pages: int = 256) -> float:
    """Copies of single pages, keys and values and then index keys, one stream, no forward pass."""
    index_keys = make_index_keys("bf16", 1)
    pool = PagePool(n_pages, model.config, index_keys, allocate=zeroed_on(model.device))
    host = HostPool(n_pages, pool, index_page_bytes=index_keys.page_bytes)

    def copy_all() -> None:
        for page in range(n_pages):
            host.load_kv(PageCopy(page, page), 0)
            host.load_index(PageCopy(page, page), 0)

    return _median_gb_per_s(copy_all, n_pages * (host.kv_bytes + host.index_bytes))


def _median_gb_per_s(copy: Callable[[], object], n_bytes: int) -> float:
    rates = []
    for _ in range(_REPEATS):
        torch.cuda.synchronize()
        started_s = time.perf_counter()
        copy()
        torch.cuda.synchronize()
        rates.append(n_bytes / (time.perf_counter() - started_s) / 1e9)
    return round(sorted(rates)[_REPEATS // 2], 2)
