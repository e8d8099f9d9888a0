"""Servers in which nothing moves, told from pauses, idle servers and gauges that stay behind."""

import pytest

from runner.observe.wedge_spans import WedgeRule
from tests.runner.observe.metric_pages import sglang, vllm_engine
from tests.runner.observe.wedge_scene import Scene, worker


def test_a_server_that_holds_requests_and_makes_no_token_is_suspected_and_confirmed() -> None:
    scene = Scene()
    scene.send("r1-s0-t0", "r1-s1-t0")
    scene.look(sglang(2, 100))

    suspicion = scene.for_seconds(30, sglang(2, 100))
    span = scene.confirmed()

    assert suspicion is not None and suspicion.rule is WedgeRule.ENGINE
    assert (span.started_s, span.confirmed_s) == (1000.0, 1030.0)
    assert set(span.victims) == {"r1-s0-t0", "r1-s1-t0"}


@pytest.mark.parametrize("seconds", [2, 10, 18])
def test_a_pause_is_not_suspected(seconds: int) -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(1, 100))

    assert scene.for_seconds(seconds, sglang(1, 100)) is None


def test_a_slow_prefill_that_ends_while_the_canary_waits_is_no_wedge() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(1, 100))
    scene.for_seconds(24, sglang(1, 100))
    scene.for_seconds(10, sglang(1, 900))

    assert scene.suspicion is not None
    assert scene.tracker.canary_unanswered("it was queued behind the prefill") is None


def test_a_token_that_came_while_the_canary_waited_ends_the_stillness_it_was_sent_for() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(1, 100))
    scene.for_seconds(24, sglang(1, 100))
    sent_s = scene.at_s
    scene.for_seconds(2, sglang(1, 101))
    scene.for_seconds(24, sglang(1, 101))

    assert scene.suspicion is not None
    assert scene.tracker.canary_unanswered("no answer", sent_s=sent_s) is None
    assert scene.tracker.canary_unanswered("no answer", sent_s=scene.at_s) is not None


def prefill(inflight: int, tokens_in: int) -> str:
    """The page of a prefill server: requests whose pages nobody fetches, and prompts that it read.

    The decode server's gauges stay behind, as they do while it makes no step.
    """
    return (
        f'sglang:num_prefill_inflight_queue_reqs{{tp_rank="0"}} {inflight}\n'
        f'sglang:realtime_tokens_total{{mode="prefill_compute",tp_rank="0"}} {tokens_in}\n'
    )


def decode(tokens_out: int) -> str:
    return (
        'sglang:num_running_reqs{tp_rank="0"} 0\n'
        f'sglang:realtime_tokens_total{{mode="decode",tp_rank="0"}} {tokens_out}\n'
    )


@pytest.mark.parametrize("has_client", [False, True])
def test_a_canary_that_is_prefilled_and_never_answered_is_no_sign_of_life(
    has_client: bool,
) -> None:
    scene = Scene()
    held = 0 if has_client else 3
    if has_client:
        scene.send("a")
    scene.look(prefill(held, 36), decode(36))
    scene.for_seconds(22, prefill(held, 36), decode(36))
    sent_s = scene.at_s
    scene.tracker.canary_sent(sent_s)
    scene.for_seconds(18, prefill(held, 42), decode(36))

    span = scene.tracker.canary_unanswered("no answer", sent_s=sent_s)

    assert span is not None
    assert span.started_s == 1000.0
    assert span.rule is (WedgeRule.CLIENT if has_client else WedgeRule.ENGINE)


@pytest.mark.parametrize(
    ("after", "has_progress"),
    [
        (prefill(4, 2036), False),
        (prefill(0, 42), False),
        (prefill(4, 42), True),
    ],
    ids=["a long prompt is read", "nothing is held any more", "an answer of ours goes on"],
)
def test_what_more_than_a_canary_moves_ends_the_stillness(after: str, has_progress: bool) -> None:
    scene = Scene()
    scene.look(prefill(3, 36), decode(36))
    scene.for_seconds(22, prefill(3, 36), decode(36))
    sent_s = scene.at_s
    scene.tracker.canary_sent(sent_s)
    scene.progress_s = sent_s + 2 if has_progress else scene.progress_s
    scene.for_seconds(18, after, decode(36))

    assert scene.tracker.canary_unanswered("no answer", sent_s=sent_s) is None


def test_a_server_where_nobody_listens_has_gone_and_is_not_suspected_at_once_again() -> None:
    scene = Scene()
    scene.look(sglang(1, 100))
    assert scene.for_seconds(24, sglang(1, 100)) is not None
    scene.tracker.canary_not_taken()
    scene.suspicion = None

    assert scene.for_seconds(18, None) is None
    assert scene.tracker.spans == []


def test_a_canary_that_is_answered_clears_a_server_with_one_engine() -> None:
    scene = Scene()
    scene.look(sglang(24, 100))
    scene.for_seconds(60, sglang(24, 100))

    assert scene.suspicion is not None
    assert scene.tracker.canary_answered() is None
    assert scene.tracker.spans == []


def test_a_page_that_says_nothing_of_requests_does_not_end_a_wedge() -> None:
    scene = Scene()
    scene.look(sglang(2, 100))
    scene.for_seconds(30, sglang(2, 100))
    span = scene.confirmed()

    scene.for_seconds(4, "sglang:token_usage 0.1\n")
    assert span.end is None

    scene.for_seconds(2, sglang(0, 100))
    assert span.end == "no request is left"


def test_an_idle_server_is_never_suspected_however_long_it_rests() -> None:
    scene = Scene()
    scene.look(sglang(0, 100))

    assert scene.for_seconds(600, sglang(0, 100)) is None


def test_time_that_a_server_was_idle_is_not_held_against_its_first_request() -> None:
    scene = Scene()
    scene.look(sglang(0, 100))
    scene.for_seconds(600, sglang(0, 100))
    scene.send("a")

    assert scene.for_seconds(6, sglang(1, 100)) is None


def test_requests_in_the_transfer_queue_alone_are_a_wedge() -> None:
    stuck = sglang(0, 100, num_decode_transfer_queue_reqs=8)
    scene = Scene()
    scene.look(stuck)

    assert scene.for_seconds(30, stuck) is not None


def test_requests_that_were_never_admitted_are_found_by_the_client_alone() -> None:
    scene = Scene()
    scene.send("a", "b")
    scene.look(sglang(0, 100))

    suspicion = scene.for_seconds(30, sglang(0, 100))

    assert suspicion is not None and suspicion.rule is WedgeRule.CLIENT
    assert set(scene.confirmed().victims) == {"a", "b"}


def test_a_server_without_metrics_is_watched_by_the_client_alone() -> None:
    scene = Scene()
    scene.send("a")

    assert scene.for_seconds(30) is not None
    assert scene.confirmed().where == ()


def test_metrics_that_cannot_be_read_hide_no_wedge_and_prove_none() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(1, 100))
    scene.for_seconds(30, None)

    assert scene.suspicion is not None

    idle = Scene()
    idle.look(sglang(0, 100))
    assert idle.for_seconds(120, None) is None


def test_a_long_answer_is_no_wedge_where_counters_know_finished_requests_only() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(1, 100))
    for _ in range(40):
        scene.at_s += 2
        scene.progress_s = scene.at_s
        scene.sent["a"] = scene.at_s
        scene.look(sglang(1, 100))

    assert scene.suspicion is None


def both(first: int, second: int, *, held: int = 4) -> str:
    return vllm_engine(0, 5, first) + vllm_engine(1, held, second)


def test_one_dead_engine_is_found_though_the_canary_is_answered_by_the_other() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(both(0, 7))
    for step in range(25):
        scene.progress_s = scene.at_s
        scene.for_seconds(2, both(100 * (step + 1), 7))

    span = scene.tracker.canary_answered()

    assert span is not None
    assert span.where == ("s0 engine=1",)
    assert span.started_s == 1000.0


def test_the_gauge_of_an_idle_engine_may_stay_behind_for_half_a_minute() -> None:
    scene = Scene()
    scene.look(both(0, 7))
    for step in range(15):
        scene.progress_s = scene.at_s
        scene.for_seconds(2, both(100 * (step + 1), 7))

    assert scene.suspicion is not None
    assert scene.tracker.canary_answered() is None


def test_admission_that_stands_still_is_found_while_one_request_survives() -> None:
    def text(tokens: int, waiting: int) -> str:
        return sglang(
            1,
            tokens,
            num_decode_transfer_queue_reqs=12,
            num_decode_prealloc_queue_reqs=waiting,
            token_usage=0.04,
        )

    scene = Scene()
    scene.look(text(0, 1))
    for step in range(30):
        scene.progress_s = scene.at_s
        scene.for_seconds(2, text(50 * step, 1 + step // 4))

    assert scene.suspicion is not None and scene.suspicion.rule is WedgeRule.ADMISSION


def test_prefills_that_go_on_do_not_hide_a_transfer_queue_that_nobody_leaves() -> None:
    def text(prefilled: int) -> str:
        return sglang(0, 0, num_decode_transfer_queue_reqs=5) + (
            f'sglang:realtime_tokens_total{{mode="prefill_compute"}} {prefilled}\n'
            'sglang:realtime_tokens_total{mode="decode"} 900\n'
        )

    scene = Scene()
    scene.send("a")
    scene.look(text(0))
    for step in range(20):
        scene.for_seconds(2, text(100 * step))

    assert scene.suspicion is not None
    assert scene.confirmed().started_s == 1000.0


def test_a_long_prefill_moves_an_engine_that_has_nothing_in_transfer() -> None:
    def text(prefilled: int) -> str:
        return sglang(1, 0, num_decode_transfer_queue_reqs=0) + (
            f'sglang:realtime_tokens_total{{mode="prefill_compute"}} {prefilled}\n'
            'sglang:realtime_tokens_total{mode="decode"} 900\n'
        )

    scene = Scene()
    scene.send("a")
    scene.look(text(0))
    for step in range(40):
        scene.for_seconds(2, text(8192 * step))

    assert scene.suspicion is None


def test_workers_that_answer_in_turn_are_no_restart_and_their_stillness_is_seen() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(worker(10, 900))
    scene.look(worker(20, 100))

    for _ in range(8):
        scene.for_seconds(2, worker(10, 900))
        scene.for_seconds(2, worker(20, 100))

    assert scene.suspicion is not None


def test_workers_that_answer_in_turn_and_work_are_not_suspected() -> None:
    scene = Scene()
    scene.send("a")

    for step in range(20):
        scene.for_seconds(2, worker(10, 900 + step))
        scene.for_seconds(2, worker(20, 100 + step))

    assert scene.suspicion is None
