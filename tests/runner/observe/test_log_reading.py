"""What a log proves: events by request, alarms that pass, and what only looks like one."""

import pytest

from runner.observe.own_ends import OwnEnds
from tests.runner.observe.catalogue import CATALOGUE, kinds, only, read

AT = "[2026-04-09 18:00:{second:02d} TP0] "
DECODE = (
    "Decode batch, #running-req: 4, #token: 9000, token usage: 0.05, cuda graph: True, "
    "gen throughput (token/s): {rate}, #queue-req: 0"
)
HEALTH = (
    "[2026-04-09 18:00:{second:02d}] Health check failed. Server couldn't get a response from "
    "detokenizer for last 20 seconds. tic start time: 17:59:40. last_heartbeat time: {beat}"
)
WAITING = (
    "[2026-08-22 09:15:02 TP{rank}] Decode transfer failed for request rank={rank} "
    "decode_req.req.rid='{rid}' decode_req.req.bootstrap_room={room} with exception "
    "KVTransferError(bootstrap_room={room}): Request {room} timed out after 300.0s in "
    "KVPoll.WaitingForInput"
)
GONE = (
    "[2026-04-09 18:00:12] Request is disconnected from the client side (type 3). "
    "Abort request obj.rid='{rid}'"
)


def decode(second: int, rate: float = 320.1) -> str:
    return AT.format(second=second) + DECODE.format(rate=rate)


def vllm(clock: str, generation: float, running: int, engine: str = "000") -> str:
    return (
        f"(APIServer pid=1) INFO 07-10 {clock} [loggers.py:271] Engine {engine}: Avg prompt "
        f"throughput: 0.0 tokens/s, Avg generation throughput: {generation:.1f} tokens/s, "
        f"Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 3.1%"
    )


def test_every_rank_prints_its_line_but_requests_are_counted() -> None:
    lines = [
        WAITING.format(rank=rank, rid=rid, room=room)
        for rank in range(8)
        for rid, room in (("abc", 77), ("def", 78))
    ]

    finding = only(read("\n".join(lines)), "kv_wait_timeout")

    assert (finding.lines, len(finding.requests)) == (16, 2)


def test_a_line_that_knows_only_the_room_is_of_the_same_request() -> None:
    bare = "[2026-08-22 09:15:03 TP9] Request 77 timed out after 300.0s in KVPoll.WaitingForInput"

    finding = only(read(f"{WAITING.format(rank=0, rid='abc', room=77)}\n{bare}"), "kv_wait_timeout")

    assert finding.requests == ("abc",)


def test_a_health_check_that_failed_is_a_pause_where_tokens_flow_afterwards() -> None:
    log = f"{HEALTH.format(second=0, beat='17:59:31')}\n{decode(3)}"

    assert read(log).verdict == "slow"
    assert kinds(read(log))["recovered"] == "info"


def test_a_health_check_that_failed_for_good_is_a_wedge() -> None:
    log = f"{decode(0)}\n{HEALTH.format(second=20, beat='17:55:00')}"

    finding = only(read(log), "health_fail")

    assert (str(finding.event_class), finding.fields["gap_s"]) == ("wedge", 320)


def test_tokens_after_a_restart_do_not_make_the_wedge_before_it_a_pause() -> None:
    log = "\n".join(
        [
            HEALTH.format(second=20, beat="17:55:00"),
            "[2026-04-09 18:01:00] SIGQUIT received. signum=None, frame=None.",
            "[2026-04-09 18:02:00] The server is fired up and ready to roll!",
            "[2026-04-09 18:02:10 TP0] " + DECODE.format(rate=10),
        ]
    )

    reading = read(log)

    assert reading.verdict == "wedge"
    assert only(reading, "restart").fields["down_s"] == 60


def test_a_crash_stays_a_crash_though_the_next_server_works() -> None:
    log = "\n".join(
        [
            "[2026-04-09 18:01:00 TP0] Scheduler hit an exception: "
            "Traceback (most recent call last):",
            "  File x",
            "RuntimeError: boom",
            "[2026-04-09 18:02:00] server_args=ServerArgs(model_path='/m')",
            "[2026-04-09 18:02:10 TP0] " + DECODE.format(rate=10),
        ]
    )

    assert read(log).verdict == "crash"


def test_an_abort_of_our_own_is_benign_and_one_that_came_before_is_not() -> None:
    ours = OwnEnds({"r1": 1775757610.0})  # 18:00:10
    too_early = OwnEnds({"r1": 1775757630.0})

    assert read(GONE.format(rid="r1"), own=ours).verdict == "benign"
    assert read(GONE.format(rid="r1"), own=too_early).verdict == "abort"
    assert read(GONE.format(rid="other"), own=ours).verdict == "abort"


def test_a_client_that_left_is_benign_where_nobody_knows_whose_it_was() -> None:
    assert read(GONE.format(rid="r1")).verdict == "benign"


@pytest.mark.parametrize(
    "quoting",
    [
        "[2026-04-09 18:00:00] Receive: obj=GenerateReqInput(rid='a', text='{words}')",
        "[2026-04-09 18:00:00] Receive: obj=GenerateReqInput(rid='a', text='x\n{words}')",
        "INFO 02-03 06:42:59 engine.py:436] Received request cmpl-1: prompt: 'x\n{words}'",
        '[2026-04-09 18:00:00] {{"event": "request.received", "rid": "a", "text": "{words}"}}',
        "[2026-04-09 18:00:00] the user said: yes, {words}",
        "[2026-04-09 18:00:00] server_args=ServerArgs(note='{words}')",
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)",
        "Request 1 timed out after 300.0s in KVPoll.WaitingForInput",
        "SIGQUIT received. signum=None",
        "No available shared memory broadcast block found in 60 seconds",
    ],
)
def test_alarm_words_in_what_users_wrote_are_no_alarm(quoting: str, words: str) -> None:
    reading = read(quoting.format(words=words))

    assert (reading.verdict, reading.findings) == ("benign", ())


def test_an_engine_that_falls_silent_with_running_requests_is_a_wedge() -> None:
    log = "\n".join(
        [
            vllm("11:20:00", 96.3, 2),
            vllm("11:20:10", 0.0, 2),
            "(APIServer pid=1) INFO 07-10 11:25:10 [async_llm.py:269] Added request x.",
        ]
    )

    assert only(read(log), "stats_silence").fields["span_s"] == 300


def test_an_engine_that_falls_silent_without_requests_is_idle() -> None:
    log = f"{vllm('11:20:00', 9.0, 1)}\n{vllm('11:20:10', 0.0, 0)}\n" + vllm("12:20:10", 9.0, 1)

    assert read(log).verdict == "benign"


def test_a_line_of_zeros_after_which_tokens_flow_is_a_pause() -> None:
    log = "\n".join([vllm("11:20:00", 9, 2), vllm("11:20:10", 0, 2), vllm("11:20:20", 9, 2)])

    assert read(log).verdict == "slow"


def test_one_silent_engine_is_found_while_another_one_works() -> None:
    log = "\n".join(
        [vllm("11:20:00", 9, 2, "000"), vllm("11:20:00", 0, 4, "001")]
        + [vllm(f"11:{minute}:00", 9, 2, "000") for minute in range(21, 27)]
    )

    assert only(read(log), "stats_silence").fields["where"] == "Engine 001"


def frozen(second: int, transfer: int, prealloc: int, usage: float = 0.04) -> str:
    return (
        f"[2026-05-02 10:{second // 60:02d}:{second % 60:02d} DP0] Decode batch, #running-req: 1, "
        f"#token: 2210, token usage: {usage}, #prealloc-req: {prealloc}, "
        f"#transfer-req: {transfer}, gen throughput (token/s): 21.40, #queue-req: 0"
    )


def test_a_transfer_queue_that_stays_while_more_wait_behind_it_is_a_wedge() -> None:
    log = "\n".join(frozen(at, 128, 40 + at // 10) for at in range(0, 150, 30))

    assert only(read(log), "transfer_queue_frozen").fields["span_s"] == 120


@pytest.mark.parametrize(
    "log",
    [
        "\n".join(frozen(at, 128, 40 + at // 10, usage=0.97) for at in range(0, 150, 30)),
        "\n".join(frozen(at, 128 - at // 30, 40 + at // 10) for at in range(0, 150, 30)),
        "\n".join(frozen(at, 128, 40) for at in range(0, 150, 30)),
        "\n".join(frozen(at, 128, 40 + at) for at in range(0, 40, 10)),
    ],
    ids=["full cache", "moving", "nothing behind", "too short"],
)
def test_a_transfer_queue_that_is_merely_long_is_no_wedge(log: str) -> None:
    assert read(log).verdict == "benign"


def test_a_notice_of_waiting_is_normal_before_the_server_is_ready() -> None:
    notice = (
        "(EngineCore pid=3) INFO 08-12 09:02:15 [shm_broadcast.py:790] No available shared memory "
        "broadcast block found in 60 seconds. This typically happens when"
    )
    ready = "(APIServer pid=1) INFO:     Application startup complete."

    assert only(read(f"{notice}\n{ready}"), "shm_wait").fields["phase"] == "startup"
    assert read(f"{notice}\n{ready}").verdict == "benign"
    assert read("\n".join([ready, notice, notice, notice])).verdict == "wedge"


@pytest.mark.parametrize(
    ("line", "kind", "verdict"),
    [
        (
            "[rank3]:[E612 12:00:00.123456789 ProcessGroupNCCL.cpp:629] [Rank 3] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1) ran",
            "nccl_timeout",
            "wedge",
        ),
        (
            "[06/30/2026-12:00:00] [TRT-LLM] [RANK 2] [E] Hang detected after 300 seconds.",
            "hang_detected",
            "wedge",
        ),
        ("srv  cancel_tasks: cancel task, id_task = 5", "client_abort", "benign"),
        ("slot update_slots: failed to find free space in the KV cache", "cache_full", "pressure"),
        (
            "2026-08-12T10:00:00.1Z ERROR dynamo_llm::http: Stream ended before generation "
            "completed",
            "stream_broken",
            "abort",
        ),
        (
            "May  5 05:49:34 gpu kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1",
            "cuda_error",
            "crash",
        ),
        (
            "May  5 05:49:34 gpu kernel: Out of memory: Killed process 4120 (python)",
            "killed_for_memory",
            "crash",
        ),
        (
            "[2026-05-05 05:49:34 TP0] len(prefill_state_indices) = 4, len(dst_state_indices) = 3",
            "index_pages_mismatch",
            "corruption",
        ),
    ],
)
def test_other_stacks_and_what_lies_under_them_are_known(
    line: str, kind: str, verdict: str
) -> None:
    reading = read(line)

    assert kind in kinds(reading)
    assert reading.verdict == verdict


def test_page_counts_that_agree_are_no_corruption() -> None:
    line = "[2026-05-05 05:49:34] len(prefill_state_indices) = 4, len(dst_state_indices) = 4"

    assert read(line).verdict == "benign"


def test_a_dead_engine_writes_a_line_for_every_request_and_died_once() -> None:
    line = (
        "(APIServer pid=1) ERROR 08-12 14:05:02 [async_llm.py:700] EngineDeadError: EngineCore "
        "encountered an issue. See stack trace (above) for the root cause."
    )

    finding = only(read("\n".join([line] * 40)), "engine_dead")

    assert (finding.count, finding.lines) == (1, 40)


def test_an_exception_that_nothing_explains_is_told_with_its_last_line() -> None:
    log = "[2026-05-05 05:49:34] oops\nTraceback (most recent call last):\n  File x\nKeyError: 'x'"

    assert only(read(log), "exception").fields["reason"] == "KeyError: 'x'"


def test_every_kind_says_what_it_means_what_not_and_where_its_wording_is_from() -> None:
    for entry in CATALOGUE.patterns:
        assert entry.kind.means and entry.kind.does_not_mean and entry.kind.source
        assert all(len(text) >= 7 for text in entry.literals)
