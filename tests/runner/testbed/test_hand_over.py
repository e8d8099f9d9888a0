"""What prefill and decode say to each other, in every order, and when one of them is silent."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from runner.testbed.batch_reports import Instruments
from runner.testbed.closed_loop import StepClock
from runner.testbed.decode_engine import DecodeEngine
from runner.testbed.draining_slots import DrainingSlots
from runner.testbed.engine_metrics import EngineMetrics, make_registry
from runner.testbed.generation import FinishReason, GenerationEvent, GenerationRequest
from runner.testbed.grammar import segments
from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import ModelConfig, load_model
from runner.testbed.page_messages import (
    PageMessage,
    PagesGranted,
    PagesSent,
    RoomAborted,
    RoomDrained,
    SendFailed,
    decode_message,
    encode_message,
)
from runner.testbed.prefill_engine import PrefillEngine
from runner.testbed.shared_memory import SharedBlock, open_shared
from runner.testbed.socket_link import (
    BootstrapServer,
    PoolOffer,
    PrefillConnections,
    SocketDecodePeer,
)
from tests.runner.testbed.chat_rendering import draw_dialogues

MODEL = load_model()
SYSTEM, USER, CALL, *_ = segments(draw_dialogues(1, seed=3)[0])
PROMPT = SYSTEM.tokens + USER.tokens
N_PAGES = -(-len(PROMPT) // 64)


class Mailbox:
    """Either peer: a pool, an address, and what was sent."""

    address = "127.0.0.1:8998"

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self.sent: list[PageMessage] = []

    def send(self, message: PageMessage) -> None:
        self.sent.append(message)


class Side:
    """One engine alone, with its clock and log and whatever it says to the other side."""

    def __init__(self, mode: str, **settings: object) -> None:
        options = LaunchOptions(
            disaggregation_mode=mode,
            pages=16,
            max_running_requests=2,
            disaggregation_bootstrap_timeout=5.0,
            disaggregation_waiting_timeout=5.0,
            **settings,  # type: ignore[arg-type]
        )
        self.clock = StepClock()
        self.log: list[str] = []
        self.registry = make_registry("tiny", hicache=False, engine_type=mode)
        instruments = Instruments(EngineMetrics(self.registry), self.clock, self.log.append)
        self.prefill = PrefillEngine(MODEL, options, instruments)
        self.decode = DecodeEngine(MODEL, options, instruments)
        self.other = Mailbox(self.decode.instance.pool)


def request(room: int = 1, rid: str = "a") -> GenerationRequest:
    return GenerationRequest(rid, PROMPT, max_new_tokens=50, room=room)


def grant(room: int = 1) -> PagesGranted:
    pages = tuple(range(N_PAGES))
    return PagesGranted(room, 0, pages, pages)


def ends(events: list[GenerationEvent]) -> list[FinishReason]:
    return [event.finish for event in events if event.finish is not None]


@pytest.mark.parametrize("grant_first", [True, False])
def test_prefill_takes_request_and_pages_in_either_order(grant_first: bool) -> None:
    side = Side("prefill")
    steps: list[Callable[[], None]] = [
        lambda: side.prefill.receive(side.other, grant()),
        lambda: side.prefill.submit(request()),
    ]

    for step in steps if grant_first else steps[::-1]:
        step()
    side.prefill.step()
    events = side.prefill.step()

    (sent,) = side.other.sent
    assert isinstance(sent, PagesSent)
    assert sent.token == CALL.tokens[0]
    assert ends(events) == [FinishReason.LENGTH]
    assert side.prefill.is_idle
    assert side.prefill.instance.used_tokens == 0


def test_without_pages_from_decode_prefill_gives_up_and_tells_the_late_decode() -> None:
    side = Side("prefill")
    side.prefill.submit(request())
    assert side.prefill.next_deadline_s() == 5.0

    side.clock.now_s = 5.0
    (event,) = side.prefill.step()
    side.prefill.receive(side.other, grant())

    assert event.finish is FinishReason.ABORT
    assert side.log[-1].endswith("Request 1 timed out after 5.0s in KVPoll.Bootstrapping")
    assert side.log[-1].startswith("Prefill bootstrap failed for request rank=0 req.rid='a'")
    assert side.log[0].startswith("Some requests timed out when bootstrapping")
    assert isinstance(side.other.sent[0], SendFailed)
    assert side.registry.value("num_bootstrap_failed_reqs_total") == 1


def test_a_room_that_decode_gave_up_before_its_request_came_is_not_computed() -> None:
    side = Side("prefill")
    side.prefill.receive(side.other, RoomAborted(1, "gone"))
    side.prefill.submit(request())

    (event,) = side.prefill.step()

    assert side.other.sent == [RoomDrained(1)]
    assert event.finish is FinishReason.ABORT
    assert side.registry.value("realtime_tokens_total", mode="prefill_compute") == 0


def test_a_write_under_way_is_ended_before_prefill_says_that_it_is_done() -> None:
    side = Side("prefill", slow_transfer_every=1, slow_transfer_s=2.0)
    side.prefill.receive(side.other, grant())
    side.prefill.submit(request())
    side.prefill.step()

    side.prefill.receive(side.other, RoomAborted(1, "Aborted by AbortReq."))
    side.prefill.step()
    assert side.other.sent == []
    assert not side.prefill.flush_cache(), "its pages are still read"
    side.clock.now_s = 2.0
    side.prefill.step()

    assert side.other.sent == [RoomDrained(1)]
    assert side.other.pool.index[:, 0].count_nonzero() > 0
    assert side.prefill.is_idle


def test_a_stalled_transfer_is_let_go_as_soon_as_decode_gives_up() -> None:
    side = Side("prefill", stall_transfer_after=0)
    side.prefill.receive(side.other, grant())
    side.prefill.submit(request())
    side.prefill.step()

    side.prefill.receive(side.other, RoomAborted(1, "timed out"))

    assert side.other.sent == [RoomDrained(1)]
    assert side.prefill.is_idle
    assert side.registry.value("num_transfer_failed_reqs_total") == 1


def test_requests_of_a_lost_decode_instance_fail_and_hold_nothing() -> None:
    side = Side("prefill", slow_transfer_every=1, slow_transfer_s=2.0)
    side.prefill.receive(side.other, grant())
    side.prefill.submit(request())
    side.prefill.step()

    side.prefill.peer_lost(side.other)

    (event,) = side.prefill.step()
    assert event.error is not None and "Lost connection with decode instance" in event.error
    assert side.prefill.is_idle
    assert side.prefill.instance.used_tokens == 0


def test_decode_names_the_pages_of_its_slot_and_runs_when_they_are_filled() -> None:
    side = Side("decode")
    side.decode.submit(request(), side.other)
    side.decode.step()

    (granted,) = side.other.sent
    side.decode.receive(PagesSent(1, CALL.tokens[0], device_tokens=64, host_tokens=128))
    first, *_ = side.decode.step()

    assert isinstance(granted, PagesGranted)
    assert granted.kv_pages == granted.index_pages == tuple(range(N_PAGES))
    assert side.decode.instance.pool.owners[granted.slot] == 1
    assert (first.token, first.cached.device, first.cached.host) == (CALL.tokens[0], 64, 128)
    assert side.decode.n_running == 1


def test_decode_may_name_too_few_pages_for_the_index_keys() -> None:
    side = Side("decode", state_pages_short=1)
    side.decode.submit(request(), side.other)
    side.decode.step()

    (granted,) = side.other.sent
    assert isinstance(granted, PagesGranted)
    assert granted.index_pages == granted.kv_pages[:-1]


@pytest.mark.parametrize(("release", "free_before_drained"), [("deferred", 1), ("immediate", 2)])
def test_a_given_up_slot_waits_for_prefill_unless_it_is_released_at_once(
    release: str, free_before_drained: int
) -> None:
    side = Side("decode", decode_kv_release=release)
    side.decode.submit(request(), side.other)
    side.decode.step()
    side.clock.now_s = 5.0

    (event,) = side.decode.step()

    assert event.error is not None and event.error.endswith(
        "Request 1 timed out after 5.0s in KVPoll.WaitingForInput"
    )
    assert isinstance(side.other.sent[-1], RoomAborted)
    assert side.decode.instance.free_slots == free_before_drained
    side.decode.receive(RoomDrained(1))
    assert side.decode.instance.free_slots == 2
    assert side.decode.is_idle


def test_a_drain_that_nobody_acknowledges_ends_after_a_while() -> None:
    side = Side("decode")
    side.decode.submit(request(), side.other)
    side.decode.step()
    side.decode.abort("a")
    assert side.decode.next_deadline_s() == 30.0

    side.clock.now_s = 30.0
    side.decode.step()

    assert side.decode.instance.free_slots == 2
    assert side.log[-1].startswith("Deferred KV release for room 1 timed out after 30.0s")


def test_when_prefill_is_lost_what_it_owed_fails_and_what_runs_goes_on() -> None:
    side = Side("decode")
    for room, rid in ((1, "runs"), (2, "waits")):
        side.decode.submit(request(room, rid), side.other)
    side.decode.step()
    side.decode.receive(PagesSent(1, CALL.tokens[0], 0, 0))

    side.decode.prefill_lost(side.other)

    events = side.decode.step()
    assert [event.rid for event in events if event.finish is FinishReason.ABORT] == ["waits"]
    assert side.decode.n_running == 1
    assert any("(bootstrap_addr: 127.0.0.1:8998), 1 requests affected" in s for s in side.log)


def test_slots_drain_once() -> None:
    freed: list[int] = []
    draining = DrainingSlots("deferred", freed.append)
    draining.add(7, 3, now_s=0.0)

    draining.drained(7)
    draining.drained(7)

    assert freed == [3]


ROOMS = st.integers(1, 2**63 - 1)
PAGES = st.lists(st.integers(0, 4000), max_size=16).map(tuple)
MESSAGES = st.one_of(
    st.builds(PagesGranted, ROOMS, st.integers(0, 95), PAGES, PAGES),
    st.builds(RoomAborted, ROOMS, st.text()),
    st.builds(PagesSent, ROOMS, st.integers(0, 1268), st.integers(0), st.integers(0), PAGES),
    st.builds(SendFailed, ROOMS, st.text()),
    st.builds(RoomDrained, ROOMS),
)


@given(MESSAGES)
def test_a_message_is_one_line_and_comes_out_as_it_went_in(message: PageMessage) -> None:
    line = encode_message(message)

    assert line.count(b"\n") == 1
    assert decode_message(line) == message


def test_a_block_of_memory_is_the_same_bytes_for_both() -> None:
    block = SharedBlock(4096)

    opened = open_shared(block.path, 4096)
    opened[17] = 5

    assert block.tensor[17] == 5
    assert torch.equal(opened, block.tensor)


def test_a_block_of_another_size_is_not_opened() -> None:
    block = SharedBlock(4096)

    with pytest.raises(OSError, match="not a block of 8192 bytes"):
        open_shared(block.path, 8192)


class Heard:
    """What a bootstrap server was told, and by whom."""

    def __init__(self) -> None:
        self.messages: list[PageMessage] = []
        self.peer: SocketDecodePeer | None = None
        self.came = threading.Event()
        self.went = threading.Event()

    def on_message(self, peer: SocketDecodePeer, message: PageMessage) -> None:
        self.peer = peer
        self.messages.append(message)
        self.came.set()

    def on_lost(self, peer: SocketDecodePeer) -> None:
        self.went.set()


def small_pool(offer: PoolOffer) -> PagePool:
    return PagePool(offer.n_pages, ModelConfig(), make_index_keys("bf16", 1))


def test_messages_go_both_ways_over_a_socket_until_one_side_closes() -> None:
    heard, told = Heard(), threading.Event()
    lost = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    server = BootstrapServer(listener, heard, small_pool)
    server.start()
    connections = PrefillConnections(
        PoolOffer("", 4, 1, "bf16"),
        on_message=lambda message: told.set(),
        on_lost=lambda peer: lost.set(),
    )
    peer = connections.peer("127.0.0.1", listener.getsockname()[1])
    assert connections.peer("127.0.0.1", listener.getsockname()[1]) is peer

    peer.send(RoomAborted(5, "because"))
    assert heard.came.wait(30)
    assert heard.peer is not None
    heard.peer.send(RoomDrained(5))

    assert told.wait(30)
    assert heard.messages == [RoomAborted(5, "because")]
    connections.close()
    assert heard.went.wait(30)
    assert lost.wait(30)
    server.close()


def test_a_stranger_on_the_bootstrap_port_is_sent_away() -> None:
    heard = Heard()
    listener = socket.create_server(("127.0.0.1", 0))
    server = BootstrapServer(listener, heard, small_pool)
    server.start()

    with socket.create_connection(listener.getsockname()) as stranger:
        stranger.sendall(json.dumps({"hello": 1}).encode() + b"\n")
        answer = stranger.recv(100)

    assert answer == b""
    assert heard.messages == []
    server.close()
