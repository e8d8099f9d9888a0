"""The testbed's claims, in small: which arm corrupts, and which never does."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from runner.testbed.closed_loop import ClosedLoop, Tally
from runner.testbed.launch_options import ALL_TOKENS, LaunchOptions
from runner.testbed.model import load_model
from tests.runner.testbed.chat_rendering import draw_dialogues

MODEL = load_model()
SESSIONS = 40
BROKEN = LaunchOptions(
    index_k_dtype="bf16", enable_hierarchical_cache=True, host_index_bytes="fp8", pages=60
)
WEDGED = replace(BROKEN, stall_transfer_after=30, disaggregation_waiting_timeout=2.0)


def play(
    options: LaunchOptions, *, concurrency: int = 24, seed: int = 0, n: int = SESSIONS
) -> Tally:
    dialogues = draw_dialogues(n, seed=seed, rounds=3)
    loop = ClosedLoop(MODEL, options, concurrency=concurrency, dialogues=dialogues, seed=seed)
    tally = loop.run()
    assert loop.engine.is_idle
    assert loop.engine.prefill.instance.used_tokens == 0, "a page was lost"
    assert loop.engine.decode.instance.free_slots == options.max_running_requests, "a slot was lost"
    return tally


@pytest.mark.parametrize("seed", range(3))
def test_a_host_pool_sized_for_fp8_corrupts_bf16_sessions(seed: int) -> None:
    tally = play(BROKEN, seed=seed)

    assert tally.host_tokens > 0
    assert 3 <= tally.outcomes["corrupt"] < SESSIONS
    assert tally.outcomes["error"] == 0


def test_a_gate_without_the_index_keys_corrupts_what_the_right_host_pool_left_clean() -> None:
    partly_fixed = replace(BROKEN, host_index_bytes="dtype", load_back_gate="kv_only")

    tally = play(replace(partly_fixed, index_copy_mb_per_s=10), seed=0)

    assert tally.audit["races_lost"] > 0
    assert tally.outcomes["corrupt"] >= 1
    assert tally.outcomes["error"] == 0


@pytest.mark.parametrize(
    "intact",
    [
        replace(BROKEN, index_topk=ALL_TOKENS, load_back_gate="kv_only"),
        replace(BROKEN, index_topk=ALL_TOKENS),
        replace(BROKEN, host_index_bytes="dtype"),
        replace(BROKEN, index_k_dtype="fp8"),
    ],
    ids=[
        "everything selected, both faults",
        "everything selected",
        "dtype-aware host pool",
        "fp8 index keys",
    ],
)
def test_with_the_same_load_backs_nothing_is_corrupted(intact: LaunchOptions) -> None:
    tally = play(intact)

    assert tally.host_tokens > 0, "the suspected path was not used"
    assert tally.outcomes == Counter(right=SESSIONS)


def test_without_the_host_mirror_nothing_is_corrupted() -> None:
    tally = play(replace(BROKEN, enable_hierarchical_cache=False))

    assert tally.host_tokens == 0
    assert tally.outcomes == Counter(right=SESSIONS)


def test_one_session_at_a_time_is_never_corrupted() -> None:
    tally = play(BROKEN, concurrency=1, n=8)

    assert tally.outcomes == Counter(right=8)


def test_a_stalled_transfer_ends_in_errors_and_log_lines_but_corrupts_nothing() -> None:
    tally = play(replace(WEDGED, host_index_bytes="dtype"))

    failures = [line for line in tally.log if line.startswith("Decode transfer failed")]
    pattern = (
        r"Decode transfer failed for request rank=0 decode_req\.req\.rid='[^']+' "
        r"decode_req\.req\.bootstrap_room=(\d+) "
        r"with exception KVTransferError\(bootstrap_room=\1\): "
        r"Request \1 timed out after 2\.0s in KVPoll\.WaitingForInput"
    )
    assert tally.outcomes["error"] == len(failures) > 0
    assert tally.outcomes["corrupt"] == 0
    assert all(re.fullmatch(pattern, line) for line in failures)
    hints = [line for line in tally.log if line.startswith("Some requests fail to receive KV")]
    assert len(hints) == 1


def test_the_same_seed_gives_the_same_run() -> None:
    first, second = (play(BROKEN, n=24, concurrency=24) for _ in range(2))

    assert first.wrong_outputs == second.wrong_outputs
    assert first.steps == second.steps


FEW_SLOTS = replace(
    BROKEN,
    host_index_bytes="dtype",
    max_running_requests=8,
    slow_transfer_every=8,
    slow_transfer_s=0.3,
    disaggregation_waiting_timeout=0.15,
)


@pytest.mark.parametrize(("release", "is_corrupt"), [("immediate", True), ("deferred", False)])
def test_pages_freed_while_they_are_written_corrupt_others_than_those_given_up(
    release: str, is_corrupt: bool
) -> None:
    tally = play(replace(FEW_SLOTS, decode_kv_release=release), n=24)

    assert tally.outcomes["error"] > 0
    assert (tally.outcomes["corrupt"] > 0) is is_corrupt
    assert (tally.audit["late_page_writes"] > 0) is is_corrupt
    assert (tally.audit["differing_index_pages_decode"] > 0) is is_corrupt


def test_a_host_mirror_without_index_keys_corrupts_sessions() -> None:
    tally = play(replace(BROKEN, host_index_bytes="none"), n=24)

    assert tally.outcomes["corrupt"] > 0
    assert tally.audit["differing_index_pages_host"] > 0


@pytest.mark.parametrize(("every", "is_starved"), [(4, True), (None, False)])
def test_a_leak_of_decode_slots_starves_those_that_come_later(
    every: int | None, is_starved: bool
) -> None:
    options = replace(
        BROKEN, host_index_bytes="dtype", max_running_requests=6, leak_slot_every=every
    )
    loop = ClosedLoop(
        MODEL, options, concurrency=8, dialogues=draw_dialogues(10, seed=0), patience_s=2.0
    )

    tally = loop.run()

    assert (tally.outcomes["error"] > 0) is is_starved
    assert (loop.engine.decode.instance.free_slots < 6) is is_starved
    assert tally.outcomes["corrupt"] == 0
