"""Result files of other tools are told apart by their content and read as runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.vocabulary import ErrorReason
from runner.errors import RecordedCaseError
from runner.imported.error_reasons import error_reason
from runner.imported.imported_run import ImportedRequest, ImportedRun, peak_in_flight
from runner.imported.result_files import read_result_file

NAMES = (
    *("metadata", "request_start_ns", "request_end_ns", "metrics", "value", "error", "code"),
    *("benchmarks", "requests", "successful", "info", "timings", "config", "strategy"),
    *("model_id", "backend", "dataset_name", "request_throughput", "completed", "duration"),
    *("generated_texts", "errors", "ttfts", "itls", "cached_tokens_details", "server_info"),
    *("request", "response", "messages", "body", "status_code", "choices", "input_config"),
    *("request_count", "avg", "responses", "packets", "payload"),
)
T = 1_796_009_471.0  # a moment in 2026
DATA = Path(__file__).resolve().parents[2] / "data" / "imports"


def read_one(content: Any) -> ImportedRun:
    text = content if isinstance(content, str) else json.dumps(content)
    (run,) = read_result_file(text)
    return run


def test_a_file_that_vllm_bench_serve_wrote_is_read() -> None:
    """Made by `vllm bench serve --save-result --save-detailed` of vLLM 0.32 against the testbed."""
    run = read_one((DATA / "vllm_bench_serve.json").read_text("utf-8"))

    assert (run.tool, run.model, run.concurrency) == ("vllm bench serve", "tiny-dsml", 3)
    assert (run.requests_made, run.requests_failed) == (6, 0)
    assert run.duration_s == pytest.approx(0.1417, abs=1e-4)
    assert run.figures["median_ttft_ms"] == pytest.approx(43.8, abs=0.1)
    first = run.requests[0]
    assert first.content is not None and first.content.startswith("grow grow")
    assert (first.prompt_tokens, first.completion_tokens) == (8, 16)
    assert first.duration_s == pytest.approx(0.1025, abs=1e-4)
    # The file is dated when it is written.
    assert run.started_at_s == pytest.approx(1_796_005_860.0 - 0.1417, abs=1e-3)
    # It keeps no calls: an empty text is an answer that is not known.
    assert [each.is_told for each in run.requests] == [True, True, False, False, False, True]


def test_a_failed_request_of_vllm_bench_is_told_by_its_last_line() -> None:
    whole = {
        "model_id": "m",
        "request_throughput": 1.0,
        "completed": 1,
        "failed": 1,
        "duration": 2.0,
        "num_prompts": 2,
        "generated_texts": ["fine", ""],
        "errors": [
            "",
            "Traceback (most recent call last):\n  ...\nServerDisconnectedError: closed",
        ],
        "ttfts": [0.1, 0.0],
    }

    run = read_one(whole)

    assert run.requests[1].error == "ServerDisconnectedError: closed"
    assert run.requests[1].reason is ErrorReason.TRUNCATED
    assert run.requests[1].first_token_s is None


def test_a_file_that_sglang_bench_serving_wrote_is_read() -> None:
    """Made by `python -m sglang.bench_serving --backend sglang-oai-chat --output-file` of sglang
    0.5.23 against the testbed, behind a router and then as one server, there with
    `--output-details --cache-report`; what the server said of itself is cut.
    """
    text = (DATA / "sglang_bench_serving.jsonl").read_text("utf-8")

    plain, detailed = read_result_file(text)

    assert (plain.tool, plain.model, plain.concurrency) == ("sglang.bench_serving", "tiny-dsml", 4)
    assert (plain.requests, plain.requests_made, plain.requests_failed) == ((), 10, None)
    assert plain.duration_s == pytest.approx(2.0444, abs=1e-4)
    assert (detailed.model, detailed.requests_made, detailed.requests_failed) == ("tiny-dsml", 8, 2)
    # A call leaves no text, and its file no time: neither is known.
    called, leaked, refused = (detailed.requests[number] for number in (0, 1, 4))
    assert (called.is_told, called.first_token_s, called.duration_s) == (False, None, None)
    assert leaked.content is not None and leaked.content.startswith("<｜DSML｜tool_calls>")
    assert leaked.first_token_s == pytest.approx(0.2923, abs=1e-4)
    assert leaked.cached_tokens == {"device": 0, "host": 0, "storage": 0}
    assert refused.reason is ErrorReason.HTTP_4XX
    assert refused.error is not None and refused.error.startswith("Bad Request: ")
    assert refused.duration_s is None


def test_a_setting_that_json_has_no_number_for_is_told_by_its_name() -> None:
    (plain, _) = read_result_file((DATA / "sglang_bench_serving.jsonl").read_text("utf-8"))

    assert plain.settings["request_rate"] == "inf"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Service Unavailable: no worker", ErrorReason.HTTP_5XX),
        ("Not Found", ErrorReason.HTTP_4XX),
        ("Bad gateway settings were read", ErrorReason.UNREADABLE),
        ("TimeoutError: ", ErrorReason.SESSION_TIMEOUT),
    ],
)
def test_the_phrase_of_a_status_tells_why_a_request_failed(words: str, reason: ErrorReason) -> None:
    assert error_reason(words) is reason


def test_lines_of_sglang_bench_serving_are_one_run_each() -> None:
    """By `sglang/benchmark/serving.py` of 0.5: one line a run, lists with `--output-details`."""
    line = {
        "backend": "sglang-oai-chat",
        "dataset_name": "random",
        "max_concurrency": 4,
        "duration": 3.0,
        "completed": 2,
        "request_throughput": 0.7,
        "server_info": {"served_model_name": "deepseek"},
        "generated_texts": ["a", "b"],
        "errors": ["", ""],
        "ttfts": [0.2, 0.3],
        "itls": [[0.1, 0.1], []],
        "cached_tokens_details": [{"device": 64, "host": 0}, None],
    }

    first, second = read_result_file(json.dumps(line) + "\n" + json.dumps({**line, "completed": 1}))

    assert (first.tool, first.model, first.concurrency) == ("sglang.bench_serving", "deepseek", 4)
    assert first.requests[0].duration_s == pytest.approx(0.4)
    assert first.requests[0].cached_tokens == {"device": 64, "host": 0}
    assert second.requests_failed == 1


def aiperf_record(number: int, **more: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "session_num": number,
            "x_correlation_id": f"session-{number}",
            "turn_index": 0,
            "request_start_ns": (1_759_813_207 + number) * 1_000_000_000,
            "request_end_ns": (1_759_813_209 + number) * 1_000_000_000,
            "was_cancelled": False,
        },
        "metrics": {
            "time_to_first_token": {"value": 255.9, "unit": "ms"},
            "input_sequence_length": {"value": 550, "unit": "tokens"},
        },
        "error": None,
        **more,
    }


def test_records_of_aiperf_have_times_and_no_text() -> None:
    """By aiperf's page "Working with profile export files"."""
    failed = {"code": 503, "type": "HTTPError", "message": "no worker"}
    lines = [aiperf_record(0), aiperf_record(1, error=failed)]

    run = read_one("\n".join(map(json.dumps, lines)))

    assert (run.tool, run.requests_made, run.requests_failed) == ("aiperf", 2, 1)
    assert (run.concurrency, run.duration_s) == (2, 3.0)
    assert run.requests[0].first_token_s == pytest.approx(0.2559)
    assert [each.is_told for each in run.requests] == [False, True]
    assert run.requests[1].reason is ErrorReason.HTTP_5XX


def test_raw_records_of_aiperf_have_the_answer_as_it_was_streamed() -> None:
    events = [
        {"perf_ns": 1, "packets": [{"name": "data", "value": '{"choices": []}'}]},
        {"perf_ns": 2, "packets": [{"name": "data", "value": "[DONE]"}]},
    ]
    payload = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    run = read_one([aiperf_record(0, payload=payload, status=200, responses=events)])

    assert run.model == "m"
    assert run.requests[0].response == b'data: {"choices": []}\n\ndata: [DONE]\n\n'
    assert run.requests[0].asked == payload


def test_the_records_that_aiperf_wrote_are_read() -> None:
    """Made by `aiperf profile --concurrency 2 --export-level raw` of aiperf 0.13 against the
    testbed, and cut to the metrics that are read. One answer had no text: that is no error of the
    server's, as its raw record shows.
    """
    run = read_one((DATA / "aiperf_profile_export.jsonl").read_text("utf-8"))
    raw = read_one((DATA / "aiperf_profile_export_raw.jsonl").read_text("utf-8"))

    assert (run.requests_made, run.requests_failed, run.concurrency) == (5, 0, 2)
    assert [each.is_told for each in run.requests] == [False] * 5
    assert run.requests[0].first_token_s == pytest.approx(1.1889, abs=1e-4)
    assert run.requests[0].duration_s == pytest.approx(3.9306, abs=1e-3)
    assert raw.model == "tiny-dsml"
    assert [each.error for each in raw.requests] == [None, None]
    assert all((each.response or b"").endswith(b"data: [DONE]\n\n") for each in raw.requests)


def test_the_summary_that_aiperf_wrote_has_figures_only() -> None:
    run = read_one((DATA / "aiperf_profile_export_aiperf.json").read_text("utf-8"))

    assert (run.model, run.concurrency, run.requests) == ("tiny-dsml", 2, ())
    assert (run.requests_made, run.requests_failed) == (5, 1)
    assert run.figures["time_to_first_token p99"] == pytest.approx(1182.8, abs=0.1)


def test_a_report_of_guidellm_is_a_run_for_each_rate() -> None:
    """By guidellm's schemas GenerativeBenchmark and GenerativeRequestStats."""
    stats = {
        "request_id": "a",
        "request_args": json.dumps({"body": {"model": "m", "messages": []}}),
        "output": "fine",
        "prompt_tokens": 20,
        "output_tokens": 3,
        "info": {
            "timings": {"request_start": T, "first_token_iteration": T + 0.5, "request_end": T + 2}
        },
    }
    errored = {**stats, "output": None, "info": {"error": "timed out", "timings": {}}}
    cut = {**stats, "output": "fi"}
    benchmark = {
        "config": {"strategy": {"type_": "concurrent", "streams": 2}},
        "requests": {"successful": [stats], "errored": [errored], "incomplete": [cut]},
        "metrics": {"request_totals": {"successful": 1, "errored": 1, "total": 3}},
        "duration": 2.0,
        "start_time": T,
    }

    runs = read_result_file(json.dumps({"benchmarks": [benchmark, benchmark]}))

    assert [run.concurrency for run in runs] == [2, 2]
    assert (runs[0].model, runs[0].requests_made, runs[0].requests_failed) == ("m", 3, 1)
    by_error = {each.error: each for each in runs[0].requests}
    assert by_error["timed out"].reason is ErrorReason.SESSION_TIMEOUT
    assert sorted(each.was_cancelled for each in runs[0].requests) == [False, False, True]
    whole = next(each for each in runs[0].requests if each.content == "fine")
    assert (whole.first_token_s, whole.duration_s) == (0.5, 2.0)


def test_a_file_that_guidellm_wrote_is_read() -> None:
    """Made by `guidellm run --profile kind=concurrent,streams=2` of guidellm 0.8 against the
    testbed, and cut to what tells of the run and its requests.
    """
    run = read_one((DATA / "guidellm.json").read_text("utf-8"))

    assert (run.tool, run.model, run.concurrency) == ("guidellm", "tiny-dsml", 2)
    assert (run.requests_made, run.requests_failed, len(run.requests)) == (5, 0, 5)
    assert run.settings["type_"] == "concurrent"
    first = run.requests[0]
    assert first.content is not None and "DSML" in first.content
    assert first.first_token_s == pytest.approx(2.5676, abs=1e-3)
    assert first.asked is not None and first.asked["max_completion_tokens"] == 16
    assert peak_in_flight(run.requests) == 2


ANSWER = {"model": "m", "choices": [{"index": 0, "message": {"content": "hi"}}]}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.parametrize(
    "line",
    [
        {"request": ASKED, "response": ANSWER},
        {"request": {"body": ASKED}, "response": {"status_code": 200, "body": ANSWER}},
        {**ASKED, "response": ANSWER},
        {**ASKED, "response": "data: " + json.dumps(ANSWER) + "\n\ndata: [DONE]\n\n"},
        {"custom_id": "1", "response": {"status_code": 200, "body": ANSWER}, "error": None},
        ANSWER,
    ],
    ids=["pair", "http", "beside", "stream", "batch", "bare"],
)
def test_chat_requests_and_responses_are_read_in_their_known_shapes(line: dict[str, Any]) -> None:
    run = read_one(json.dumps(line) + "\n" + json.dumps(line))

    assert run.requests_made == 2
    assert run.requests_failed == 0
    assert b'"choices"' in (run.requests[0].response or b"")
    assert (run.requests[0].asked is None) == ("messages" not in json.dumps(line))


def test_a_line_whose_request_failed_is_an_error_with_its_status() -> None:
    line = {"request": ASKED, "response": {"status_code": 500, "body": {"error": {"message": "x"}}}}

    request = read_one(json.dumps(line) + "\n" + json.dumps({"request": ASKED, "response": ANSWER}))

    assert request.requests[0].error == "x"
    assert request.requests[0].reason is ErrorReason.HTTP_5XX


def test_printed_lines_are_counts_and_nothing_else() -> None:
    run = read_one(
        'wall=485.7s counts={"error": 75, "leak": 5}\n'
        "CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)\n"
        "WaitingForInput/aborts during run: 168\n"
    )

    assert (run.counts, run.duration_s, run.wedge_lines) == ({"leak": 5, "error": 75}, 485.7, 168)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "it is empty"),
        ("[]", "it is empty"),
        ("hello", "line 1 is no JSON object (hello)"),
        ("[1]", "found 1"),
        ('{"a": 1}\n{cut', "line 2 is no JSON object ({cut)"),
        ('{"loss": 1, "step": 2}', "an object with loss, step is no result that is known"),
        ("\x1b[2J{}", "line 1 is no JSON object (·[2J{})"),
    ],
)
def test_what_is_not_known_is_one_sentence_with_what_is(content: str, sentence: str) -> None:
    with pytest.raises(RecordedCaseError) as caught:
        read_result_file(content)

    assert sentence in str(caught.value)
    assert "wanted: the JSON of guidellm" in str(caught.value)


def test_the_peak_in_flight_is_known_where_every_request_tells_its_times() -> None:
    timed = [ImportedRequest(started_at_s=start, duration_s=2.0) for start in (0.0, 1.0, 2.0)]

    assert peak_in_flight(timed) == 2
    assert peak_in_flight([*timed, ImportedRequest()]) is None
    assert peak_in_flight([]) is None


@pytest.mark.parametrize("value", [-1, 1e30, 10**400, float("nan"), "soon", True, None, [3]])
def test_times_and_numbers_that_cannot_be_are_absent(value: Any) -> None:
    record = aiperf_record(0)
    record["metadata"]["request_end_ns"] = value
    record["metrics"]["input_sequence_length"]["value"] = value

    (request,) = read_one([record]).requests

    assert (request.duration_s, request.prompt_tokens) == (None, None)


def test_a_whole_number_without_end_is_no_number() -> None:
    endless = 10**400
    figures = {"request_throughput": endless, "completed": endless, "duration": endless}

    run = read_one({"model_id": "m", **figures})

    assert (run.requests_made, run.duration_s) == (None, None)
    assert run.figures["request_throughput"] == str(endless)


def test_json_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(RecordedCaseError, match="nested too deeply"):
        read_result_file("[" * 200_000 + "]" * 200_000)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.just(10**400)
        | st.floats()
        | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused_in_one_sentence(value: Any) -> None:
    try:
        runs = read_result_file(json.dumps(value))
    except RecordedCaseError as error:
        assert "\n" not in str(error)
    else:
        assert all(isinstance(run, ImportedRun) for run in runs)
