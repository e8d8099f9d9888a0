"""Queues, limits and the lives of single requests."""

from __future__ import annotations

import queue
from dataclasses import replace

import pytest

from runner.testbed import vocabulary as v
from runner.testbed.batch_reports import Instruments
from runner.testbed.closed_loop import StepClock
from runner.testbed.engine_metrics import EngineMetrics, make_registry
from runner.testbed.engine_thread import EngineThread
from runner.testbed.generation import FinishReason, GenerationEvent, GenerationRequest
from runner.testbed.grammar import segments
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.metrics import Registry
from runner.testbed.model import load_model
from runner.testbed.unified_engine import UnifiedEngine
from tests.runner.testbed.chat_rendering import draw_dialogues

MODEL = load_model()
OPTIONS = LaunchOptions(
    enable_hierarchical_cache=True, pages=64, host_pages=64, max_running_requests=2
)
SYSTEM, USER, CALL, *_ = segments(draw_dialogues(1, seed=3)[0])
PROMPT = SYSTEM.tokens + USER.tokens


class Bench:
    """An engine with its clock, log and metrics at hand."""

    def __init__(self, options: LaunchOptions = OPTIONS) -> None:
        self.clock = StepClock()
        self.log: list[str] = []
        self.registry: Registry = make_registry("tiny", hicache=options.enable_hierarchical_cache)
        instruments = Instruments(EngineMetrics(self.registry), self.clock, self.log.append)
        self.engine = UnifiedEngine(MODEL, options, instruments)

    def submit(self, rid: str, prompt: tuple[int, ...] = PROMPT, **settings: object) -> None:
        settings.setdefault("max_new_tokens", 100)
        self.engine.submit(GenerationRequest(rid, prompt, **settings))  # type: ignore[arg-type]

    def drain(self) -> list[GenerationEvent]:
        events = []
        while not self.engine.is_idle:
            events += self.engine.step()
        return events

    def everything_is_free(self) -> bool:
        slots = self.engine.options.max_running_requests
        return (
            self.engine.prefill.instance.used_tokens == 0
            and self.engine.decode.instance.free_slots == slots
        )


def tokens_of(events: list[GenerationEvent], rid: str) -> tuple[int, ...]:
    return tuple(e.token for e in events if e.rid == rid and e.token is not None)


def test_an_answer_is_told_token_by_token_and_ends_with_stop() -> None:
    bench = Bench()
    bench.submit("a")

    events = bench.drain()

    assert tokens_of(events, "a") == CALL.tokens
    assert [event.finish for event in events if event.finish] == [FinishReason.STOP]
    assert bench.everything_is_free()


def test_more_requests_than_slots_wait_for_one() -> None:
    bench = Bench()
    for rid in ("a", "b", "c"):
        bench.submit(rid)

    bench.engine.step()

    gauges = bench.engine.decode.gauges()
    assert (gauges.prealloc, gauges.transferring) == (1, 2)
    assert tokens_of(bench.drain(), "c") == CALL.tokens


def test_no_more_than_so_many_prompts_are_prefilled_in_a_step() -> None:
    bench = Bench(replace(OPTIONS, max_running_requests=8, prefill_max_requests=3))
    for number in range(5):
        bench.submit(str(number))

    bench.engine.step()

    assert bench.engine.prefill.gauges().inflight == 3
    assert bench.engine.prefill.gauges().waiting == 2
    bench.drain()
    assert bench.everything_is_free()


def test_an_answer_is_cut_at_its_limit() -> None:
    bench = Bench()
    bench.submit("a", max_new_tokens=5)
    bench.submit("b", (v.BOS,) * 1022)

    events = bench.drain()

    assert tokens_of(events, "a") == CALL.tokens[:5]
    assert len(tokens_of(events, "b")) <= 2
    assert {event.finish for event in events if event.finish} == {FinishReason.LENGTH}
    assert bench.everything_is_free()


def test_forced_tokens_stand_at_the_start_of_the_answer() -> None:
    bench = Bench()
    bench.submit("a", forced=(v.DONE, v.FULL_STOP), max_new_tokens=4)

    assert tokens_of(bench.drain(), "a")[:2] == (v.DONE, v.FULL_STOP)


@pytest.mark.parametrize("steps", [0, 1, 2, 6])
def test_an_aborted_request_gives_back_all_it_held(steps: int) -> None:
    bench = Bench()
    for rid in ("a", "b", "c"):
        bench.submit(rid)
    for _ in range(steps):
        bench.engine.step()

    for rid in ("a", "b", "c"):
        assert bench.engine.abort(rid)

    assert bench.engine.is_idle
    assert bench.everything_is_free()
    assert bench.registry.value("num_aborted_requests_total") == 3


def test_a_request_aborted_on_its_way_to_decode_is_logged_as_the_real_ones_are() -> None:
    bench = Bench()
    bench.submit("a")
    bench.engine.step()

    bench.engine.abort("a")

    assert [line.split(" for request")[0] for line in bench.log[-2:]] == [
        "Decode transfer failed",
        "Prefill transfer failed",
    ]
    assert all(line.endswith("Aborted by AbortReq.") for line in bench.log[-2:])
    assert bench.registry.value("num_transfer_failed_reqs_total") == 1


def test_aborting_an_unknown_request_does_nothing() -> None:
    assert not Bench().engine.abort("nobody")


def test_a_flush_is_refused_while_anything_is_open_and_then_forgets_all() -> None:
    bench = Bench()
    bench.submit("a")
    refused = bench.engine.flush_cache()
    bench.drain()
    cached = bench.engine.prefill.instance.host_used_tokens

    assert not refused
    assert bench.log[0].startswith("Cache not flushed because there are pending requests. #queue")
    assert cached > 0
    assert bench.engine.flush_cache()
    assert bench.engine.prefill.instance.host_used_tokens == 0
    assert bench.engine.prefill.gauges().pool.evictable == 0


def test_a_wedge_freezes_the_gauges_and_refuses_the_flush() -> None:
    bench = Bench(replace(OPTIONS, stall_transfer_after=0, disaggregation_waiting_timeout=60.0))
    bench.submit("a")
    bench.engine.step()
    frozen = bench.registry.exposition()

    for _ in range(20):
        assert bench.engine.step() == []
        assert not bench.engine.made_progress

    assert bench.registry.exposition() == frozen
    assert bench.registry.value("num_decode_transfer_queue_reqs") == 1
    assert not bench.engine.flush_cache()
    bench.clock.now_s = 60.0
    (event,) = bench.engine.step()
    assert event.finish is FinishReason.ABORT
    assert event.error is not None and "KVPoll.WaitingForInput" in event.error
    assert bench.everything_is_free()


def test_counters_add_up_over_two_requests_with_a_common_prefix() -> None:
    bench = Bench()
    for rid in ("a", "b"):
        bench.submit(rid)
        bench.drain()

    def value(name: str, **labels: str) -> float:
        return bench.registry.value(name, **labels)

    n_full = (len(PROMPT) - 1) // 64 * 64
    assert value("realtime_tokens_total", mode="prefill_cache") == n_full
    assert value("realtime_tokens_total", mode="prefill_compute") == 2 * len(PROMPT) - n_full
    assert value("cached_tokens_total", cache_source="device") == n_full
    assert value("cached_tokens_total", cache_source="host") == 0
    assert value("generation_tokens_total") == 2 * len(CALL.tokens)
    assert value("realtime_tokens_total", mode="decode") == 2 * (len(CALL.tokens) - 1)
    assert value("num_requests_total", is_streaming="True") == 2


def test_a_page_that_was_evicted_is_counted_when_it_comes_back_from_the_host() -> None:
    bench = Bench(replace(OPTIONS, pages=16, host_pages=32))
    bench.submit("a")
    bench.drain()
    bench.submit("filler", (v.BOS,) * 1000, max_new_tokens=1)
    bench.drain()

    bench.submit("b")
    (*_, last) = bench.drain()

    n_full = (len(PROMPT) - 1) // 64 * 64
    assert last.cached.host == n_full
    assert bench.registry.value("load_back_tokens_total", pool="kv") == n_full
    assert bench.registry.value("cached_tokens_total", cache_source="host") == n_full
    assert bench.registry.value("evicted_tokens_total") > 0


class BrokenEngine(UnifiedEngine):
    """Dies in its first step."""

    def step(self) -> list[GenerationEvent]:
        raise RuntimeError("no memory left")


def test_a_thread_whose_engine_dies_says_what_of_and_ends() -> None:
    metrics = EngineMetrics(make_registry("tiny", hicache=True))
    engine = BrokenEngine(MODEL, OPTIONS, Instruments(metrics, StepClock(), lambda _: None))
    causes: queue.SimpleQueue[Exception] = queue.SimpleQueue()
    thread = EngineThread(engine, clock=StepClock(), deliver=lambda _: None, on_crash=causes.put)

    thread.start()
    thread.post(lambda: engine.submit(GenerationRequest("a", PROMPT, max_new_tokens=1)))

    assert str(causes.get(timeout=60)) == "no memory left"
    thread.stop()
    assert not thread.is_alive


def test_a_thread_delivers_what_each_step_brought_in_one_go() -> None:
    batches: queue.SimpleQueue[list[GenerationEvent]] = queue.SimpleQueue()
    bench = Bench()
    thread = EngineThread(
        bench.engine, clock=bench.clock, deliver=batches.put, on_crash=lambda _: None
    )
    for rid in ("a", "b"):
        request = GenerationRequest(rid, PROMPT, max_new_tokens=2)
        thread.post(lambda request=request: bench.engine.submit(request))  # type: ignore[misc]

    thread.start()
    first = batches.get(timeout=60)
    thread.stop()

    assert {event.rid for event in first} == {"a", "b"}
