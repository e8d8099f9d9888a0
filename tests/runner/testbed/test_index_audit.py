"""The audit says at which place index-key bytes first differ, and stays silent where none do."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from runner.testbed.closed_loop import ClosedLoop
from runner.testbed.engine_metrics import EngineMetrics, make_registry
from runner.testbed.index_audit import DecodeAudit, page_sums
from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import ModelConfig, load_model
from tests.runner.testbed.chat_rendering import draw_dialogues

MODEL = load_model()
INTACT = LaunchOptions(
    enable_hierarchical_cache=True,
    host_index_bytes="dtype",
    index_copy_mb_per_s=10,
    pages=24,
    context_length=512,
    max_running_requests=12,
)
DIFFERENT = {
    "nowhere": INTACT,
    "host": replace(INTACT, host_index_bytes="fp8"),
    "device": replace(INTACT, load_back_gate="kv_only"),
    "decode": replace(INTACT, state_pages_short=1),
}


PLACES = ("host", "device", "decode")


@pytest.mark.parametrize("place", DIFFERENT)
def test_pages_differ_first_where_the_fault_is_and_nowhere_else(place: str) -> None:
    dialogues = draw_dialogues(8, seed=1, rounds=2)

    audit = ClosedLoop(MODEL, DIFFERENT[place], concurrency=8, dialogues=dialogues).run().audit

    differing = {where for where in PLACES if audit[f"differing_index_pages_{where}"]}
    assert differing == {place} - {"nowhere"}
    for where in PLACES if place == "nowhere" else [place]:
        assert audit[f"audited_index_pages_{where}"] > 0


@given(st.integers(0, 8447), st.integers(1, 255))
def test_one_changed_byte_changes_the_sum(place: int, change: int) -> None:
    page = torch.arange(8448).remainder(251).to(torch.uint8)
    changed = page.clone()
    changed[place] += change

    assert page_sums(page) != page_sums(changed)


def test_two_words_that_change_places_change_the_sum() -> None:
    page = torch.arange(8448).remainder(251).to(torch.uint8)
    swapped = torch.cat([page[8:16], page[:8], page[16:]])

    assert page_sums(page) != page_sums(swapped)


def test_a_page_that_is_overwritten_while_its_answer_runs_is_seen_at_the_end() -> None:
    pool = PagePool(4, ModelConfig(), make_index_keys("bf16", 4))
    pool.index.random_(0, 256)
    registry = make_registry("tiny", hicache=False)
    audit = DecodeAudit(pool, EngineMetrics(registry))
    sums = page_sums(pool.index[:, [2, 3]]).flatten().tolist()

    intact = audit.arrived([2, 3], sums)
    pool.index[1, 3, 100] += 1
    audit.ended([2, 3], sums, intact)

    assert intact == (0, 1)
    name = "testbed:differing_index_pages_total"
    assert registry.value(name, where="decode") == 1
