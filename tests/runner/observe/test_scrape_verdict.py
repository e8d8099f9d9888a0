"""What two looks at a server's metrics prove, and what they do not."""

import pytest

from runner.campaign.stack_shape import MetricRole
from runner.observe.exposition import read_exposition
from runner.observe.metric_dialects import KNOWN_DIALECTS, dialect_of
from runner.observe.scrape_verdict import Interval, ServerVerdict, judge_page
from tests.runner.observe.metric_pages import page, sglang, vllm_engine


def judged(
    before: str, now: str, *, elapsed_s: float = 120, in_flight: int | None = None
) -> ServerVerdict:
    interval = Interval(before=page(before), elapsed_s=elapsed_s, in_flight=in_flight)
    return judge_page(page(now), interval)


def test_running_requests_without_a_token_are_a_wedge_whatever_the_throughput_gauge_says() -> None:
    verdict = judged(sglang(5, 9, gen_throughput=301.5), sglang(5, 9, gen_throughput=301.5))

    assert verdict.state == "wedge"


def test_a_throughput_gauge_that_still_changes_is_a_sign_of_life() -> None:
    """Older versions count tokens of finished requests only, so a long answer moves no counter."""
    verdict = judged(sglang(5, 9, gen_throughput=301.5), sglang(5, 9, gen_throughput=288.1))

    assert verdict.state == "busy"


def test_aborts_alone_do_not_make_a_server_busy() -> None:
    aborted = 'vllm:request_success_total{engine="0",finished_reason="abort"} '
    before = vllm_engine(0, 4, 100) + aborted + "3\n"

    assert judged(before, vllm_engine(0, 4, 100) + aborted + "9\n").state == "wedge"


@pytest.mark.parametrize("elapsed_s", [2, 15, 45])
def test_a_pause_may_last_as_long_as_the_longest_prefill(elapsed_s: float) -> None:
    assert judged(sglang(5, 9), sglang(5, 9), elapsed_s=elapsed_s).state == "inconclusive"


def test_a_gauge_that_stays_behind_after_the_last_session_is_too_early_to_call() -> None:
    verdict = judged(sglang(24, 9), sglang(24, 9), elapsed_s=30, in_flight=0)

    assert verdict.state == "inconclusive"


def test_requests_that_were_never_admitted_are_a_wedge_though_every_gauge_is_zero() -> None:
    verdict = judged(sglang(0, 9), sglang(0, 9), in_flight=13)

    assert verdict.state == "wedge"


def test_requests_in_the_transfer_queue_alone_are_a_wedge() -> None:
    before = sglang(0, 9, num_decode_transfer_queue_reqs=8)

    assert judged(before, before).state == "wedge"


def test_one_surviving_request_does_not_hide_that_admission_stands_still() -> None:
    before = sglang(1, 100, num_decode_transfer_queue_reqs=128, num_decode_prealloc_queue_reqs=40)
    now = sglang(1, 2600, num_decode_transfer_queue_reqs=128, num_decode_prealloc_queue_reqs=55)

    assert judged(before, now).state == "wedge"


def test_a_full_transfer_queue_of_a_busy_server_is_no_wedge() -> None:
    before = sglang(
        80, 100, num_decode_transfer_queue_reqs=8, num_decode_prealloc_queue_reqs=4, token_usage=0.9
    )
    now = sglang(
        80, 9e4, num_decode_transfer_queue_reqs=8, num_decode_prealloc_queue_reqs=9, token_usage=0.9
    )

    assert judged(before, now).state == "busy"


def test_one_dead_engine_is_found_and_named_while_the_sum_grows() -> None:
    before = vllm_engine(0, 5, 1000) + vllm_engine(1, 6, 2000) + vllm_engine(2, 1, 5)
    now = vllm_engine(0, 4, 9000) + vllm_engine(1, 6, 2000) + vllm_engine(2, 1, 905)

    verdict = judged(before, now)

    assert (verdict.state, verdict.where) == ("wedge", ("engine=1",))


def test_a_dead_rank_of_a_data_parallel_sglang_is_found_by_its_own_counter() -> None:
    def rank(dp: int, running: int, tokens: int) -> str:
        labels = f'engine_type="unified",dp_rank="{dp}",tp_rank="{dp * 2}"'
        return (
            f"sglang:num_running_reqs{{{labels}}} {running}\n"
            f'sglang:realtime_tokens_total{{{labels},mode="decode"}} {tokens}\n'
        )

    verdict = judged(rank(0, 3, 10) + rank(1, 4, 20), rank(0, 3, 500) + rank(1, 4, 20))

    assert (verdict.state, verdict.where) == ("wedge", ("dp_rank=1",))


def test_an_idle_engine_beside_a_busy_one_is_no_wedge() -> None:
    before = vllm_engine(0, 5, 1000) + vllm_engine(1, 0, 2000)
    now = vllm_engine(0, 5, 9000) + vllm_engine(1, 0, 2000)

    assert judged(before, now, in_flight=5).state == "busy"


def test_all_engines_dead_names_none_apart() -> None:
    both = vllm_engine(0, 5, 1000) + vllm_engine(1, 6, 2000)

    assert judged(both, both).where == ()


def test_counters_that_fell_are_a_restart_and_no_negative_work() -> None:
    assert judged(sglang(0, 5000), sglang(0, 12)).state == "restarted"


def test_a_younger_process_is_a_restart_though_its_counters_were_kept() -> None:
    before = sglang(3, 10) + "process_start_time_seconds 1000\n"
    now = sglang(3, 10) + "process_start_time_seconds 1300\n"

    assert judged(before, now).state == "restarted"


def test_counters_that_jump_back_in_one_process_are_no_restart() -> None:
    start = "process_start_time_seconds 1000\n"

    assert judged(sglang(3, 10) + start, sglang(3, 4) + start).state != "restarted"


def test_no_page_is_neither_idle_nor_a_wedge() -> None:
    assert judge_page(None).state == "unavailable"


def test_a_page_that_says_nothing_of_requests_is_not_called_idle() -> None:
    silent = page("sglang:token_usage 0.1\n")

    assert judge_page(silent).state == "inconclusive"
    assert MetricRole.RUNNING not in silent.totals()


def test_an_idle_server_that_keeps_its_last_throughput_is_idle() -> None:
    idle = sglang(0, 5000, gen_throughput=88.3)

    assert judged(idle, idle).state == "idle"


def test_series_of_other_models_on_the_same_page_are_left_out_where_ours_is_named() -> None:
    text = (
        'vllm:num_requests_running{engine="0",model_name="ours"} 2\n'
        'vllm:num_requests_running{engine="0",model_name="theirs"} 7\n'
    )

    assert page(text, model="ours").totals()[MetricRole.RUNNING] == 2
    assert page(text).totals()[MetricRole.RUNNING] == 9


def test_vllm_servers_that_a_router_passes_on_with_another_spelling_are_read() -> None:
    text = "".join(
        f'vllm_num_requests_running{{engine="0",worker_addr="http://{worker}"}} {running}\n'
        f'vllm_num_requests_waiting{{engine="0",worker_addr="http://{worker}"}} 4\n'
        f'vllm_num_requests_waiting_by_reason{{engine="0",worker_addr="http://{worker}"}} 4\n'
        f'vllm_generation_tokens_total{{engine="0",worker_addr="http://{worker}"}} 100\n'
        for worker, running in (("one:80", 8), ("two:80", 3))
    )

    totals = page(text).totals()

    assert (totals[MetricRole.RUNNING], totals[MetricRole.QUEUE]) == (11, 8)
    assert judged(text, text).state == "wedge"
    assert judged(text, text.replace("} 100", "} 190")).state == "busy"


def test_the_line_of_all_priorities_is_not_added_to_theirs() -> None:
    text = "".join(
        f'sglang:num_running_reqs{{priority="{priority}"}} {value}\n'
        for priority, value in (("", 5), ("0", 3), ("1", 2))
    )

    assert page(text).totals()[MetricRole.RUNNING] == 5


def test_pipeline_ranks_repeat_and_data_ranks_add_up() -> None:
    text = "".join(
        f'sglang:num_running_reqs{{dp_rank="{dp}",pp_rank="{pp}",tp_rank="{tp}"}} {dp + 3}\n'
        for dp in (0, 1)
        for pp in (0, 1)
        for tp in (0, 1)
    )

    assert page(text).totals()[MetricRole.RUNNING] == 7


@pytest.mark.parametrize(
    ("text", "running"),
    [
        ("dynamo_frontend_inflight_requests 4\ndynamo_component_inflight_requests 4\n", 4),
        ('trtllm_num_requests_running{model_name="m"} 3\n', 3),
        ("lmdeploy:num_requests_running 6\nlmdeploy:generation_tokens_total 10\n", 6),
    ],
)
def test_other_stacks_are_read_by_their_own_names_or_by_a_guess(text: str, running: int) -> None:
    assert page(text).totals()[MetricRole.RUNNING] == running


def test_a_page_of_something_else_has_no_dialect() -> None:
    assert dialect_of(read_exposition(b"node_cpu_seconds_total 5\n")) is None


def test_every_known_dialect_says_how_work_and_progress_are_called() -> None:
    for dialect in KNOWN_DIALECTS:
        assert MetricRole.RUNNING in dialect.roles, dialect.name
        assert dialect.progress, dialect.name
