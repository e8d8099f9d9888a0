"""When pages are back on the device, who waits for them, and what fault F2 lets through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from runner.campaign.campaign_file import load_campaign
from runner.testbed.cache_metrics import CacheMetrics
from runner.testbed.engine_metrics import make_registry
from runner.testbed.grammar import Dialogue, segments
from runner.testbed.host_pool import HostPool, PageCopy
from runner.testbed.index_keys import PAGE_TOKENS, make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.load_back import CopyQueue, LayerGate, SteppedLoadBack
from runner.testbed.model import ModelConfig
from runner.testbed.page_numbers import FreePages
from runner.testbed.scripted_dialogues import draw_dialogues
from runner.testbed.work_clock import StepCosts, WorkClock
from tests.runner.testbed.chat_rendering import VOCABULARY

CAMPAIGN = Path(__file__).parents[3] / "configs" / "campaigns" / "decisive-test.yaml"
N_LAYERS = ModelConfig().n_layers
COSTS = StepCosts()


class Bench:
    """A device pool of noise, a host pool of other noise, and a load-back between them."""

    def __init__(self, dtype: str = "bf16", *, gate: str = "kv_only", n_pages: int = 8) -> None:
        self.pool = PagePool(n_pages, ModelConfig(), make_index_keys(dtype, n_pages))
        self.host = HostPool(n_pages, self.pool, index_page_bytes=self.pool.index_keys.page_bytes)
        for buffer in (self.pool.kv, self.pool.index, self.host.kv, self.host.index):
            buffer.random_(0, 256)
        self.pages = FreePages(n_pages)
        self.clock = WorkClock()
        self.registry = make_registry("tiny", hicache=True)
        self.load_back = SteppedLoadBack(
            self.host,
            self.pages,
            self.clock,
            CacheMetrics(self.registry, lambda: 0.0),
            waits_for_index=gate == "all",
            index_mb_per_s=LaunchOptions().index_copy_mb_per_s,
        )

    def start(self, n_pages: int) -> LayerGate:
        """Load so many pages back into the first ones of the device, and schedule the batch."""
        gate = self.load_back.start([PageCopy(page, page) for page in range(n_pages)])
        self.clock.spend(COSTS.schedule_us)
        return gate

    def prefill(self, n_pages: int, n_tokens: int) -> None:
        """What the engine spends on one request, and where it waits."""
        gate = self.start(n_pages)
        for layer in range(N_LAYERS):
            gate.wait_until(layer)
            self.clock.spend(COSTS.layer(n_tokens))

    def has_kv(self, n_pages: int, layer: int) -> bool:
        return torch.equal(self.pool.kv[layer, :n_pages], self.host.kv[layer, :n_pages])

    def has_index(self, n_pages: int, layer: int) -> bool:
        return torch.equal(self.pool.index[layer, :n_pages], self.host.index[layer, :n_pages])

    @property
    def races_lost(self) -> float:
        return self.registry.value("testbed:races_lost_total")


def test_a_gate_that_covers_everything_lets_no_layer_be_read_too_early() -> None:
    bench = Bench(gate="all")
    gate = bench.start(5)

    for layer in range(N_LAYERS):
        gate.wait_until(layer)
        assert bench.has_kv(5, layer)
        assert bench.has_index(5, layer)
    assert bench.races_lost == 0


def test_a_gate_without_the_index_keys_shows_what_the_pages_held_before() -> None:
    bench = Bench()
    before = bench.pool.index[0, :4].clone()
    gate = bench.start(4)

    gate.wait_until(0)

    assert bench.has_kv(4, 0)
    assert torch.equal(bench.pool.index[0, :4], before)
    assert bench.races_lost == 1


def test_index_keys_that_came_too_late_for_a_layer_still_come() -> None:
    bench = Bench()
    gate = bench.start(4)
    gate.wait_until(0)

    bench.load_back.finish()

    assert all(bench.has_index(4, layer) for layer in range(N_LAYERS))


def test_a_short_load_back_wins_the_race() -> None:
    bench = Bench()

    bench.prefill(2, n_tokens=40)

    assert bench.races_lost == 0


def test_a_late_copy_into_a_page_of_another_owner_is_counted() -> None:
    bench = Bench()
    for _ in range(8):
        bench.pages.take()
    bench.start(4).wait_until(0)

    for page in range(8):
        bench.pages.give_back(page)
    bench.pages.take()
    bench.load_back.finish()

    assert bench.registry.value("testbed:late_copies_total") == N_LAYERS
    assert bench.has_index(4, 0), "the copy is carried out all the same"


def cached_pages(dialogue: Dialogue) -> Iterator[int]:
    """Full pages that each request but the first finds of the prompt before it."""
    n_tokens = 0
    for segment in segments(dialogue):
        if segment.by_assistant:
            yield n_tokens // PAGE_TOKENS
        n_tokens += len(segment.tokens)


def test_fp8_keys_are_back_in_time_even_for_the_longest_dialogue() -> None:
    workload = load_campaign(CAMPAIGN).workload
    dialogues = draw_dialogues(
        VOCABULARY, 500, seed=0, rounds=workload.rounds, first_prompt=workload.context_tokens
    )
    longest = max(max([*cached_pages(dialogue)][:-1]) for dialogue in dialogues)
    fp8, bf16 = Bench("fp8"), Bench("bf16")

    for _ in range(20):  # one after the other: a queue that fell behind would stay behind
        fp8.prefill(longest, n_tokens=1)
        bf16.prefill(longest, n_tokens=1)

    assert longest == 5
    assert fp8.races_lost == 0
    assert bf16.races_lost == 20 * N_LAYERS


@pytest.mark.parametrize("dtype", ["fp8", "bf16"])
def test_a_queue_that_is_not_slowed_down_loses_no_race(dtype: str) -> None:
    bench = Bench(dtype)
    fast = SteppedLoadBack(
        bench.host,
        bench.pages,
        bench.clock,
        CacheMetrics(bench.registry, lambda: 0.0),
        waits_for_index=False,
        index_mb_per_s=0,
    )

    fast.start([PageCopy(page, page) for page in range(8)]).wait_until(0)

    assert bench.races_lost == 0


def test_copies_of_a_queue_are_carried_out_in_order_and_not_before_their_time() -> None:
    queue, done = CopyQueue(), list[str]()
    assert queue.submit(lambda: done.append("a"), now_us=10.0, cost_us=5.0) == 15.0
    assert queue.submit(lambda: done.append("b"), now_us=11.0, cost_us=5.0) == 20.0

    queue.advance(14.9)
    assert done == []
    queue.advance(15.0)
    assert done == ["a"]
    queue.advance(1e9)
    assert done == ["a", "b"]
