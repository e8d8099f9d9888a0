import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.observe.exposition import LARGE_PAGE_BYTES, Sample, read_exposition

PAGE = b'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0"} 3\n'


def test_nan_and_infinities_are_not_known_and_not_zero() -> None:
    page = PAGE + b"a NaN\nb +Inf\nc -Inf\nd 0\n"

    assert [sample.name for sample in read_exposition(page)] == ["vllm:num_requests_running", "d"]


def test_openmetrics_is_read_with_its_end_mark_and_exemplars() -> None:
    page = (
        b"# TYPE vllm:generation_tokens counter\n"
        b'vllm:generation_tokens_total{engine="0"} 12 # {trace_id="x"} 1.0\n# EOF\n'
    )

    samples = read_exposition(page, content_type="application/openmetrics-text; version=1.0.0")

    assert samples == (Sample("vllm:generation_tokens_total", 12.0, {"engine": "0"}),)


def test_a_text_page_that_calls_itself_openmetrics_is_read_all_the_same() -> None:
    assert len(read_exposition(PAGE, content_type="application/openmetrics-text")) == 1


OTHERS = b"".join(b'other_total{n="%d"} 1\n' % number for number in range(LARGE_PAGE_BYTES // 20))


def test_of_a_large_page_only_the_wanted_series_are_read() -> None:
    page = PAGE + OTHERS + b"# TYPE vllm:generation_tokens counter\nvllm:generation_tokens 12\n"

    assert read_exposition(
        page, wanted=["vllm:num_requests_running", "vllm:generation_tokens_total"]
    ) == (
        Sample("vllm:num_requests_running", 3.0, {"engine": "0"}),
        Sample("vllm:generation_tokens_total", 12.0),
    )


def test_of_a_large_page_of_a_stranger_the_beginning_is_read() -> None:
    samples = read_exposition(OTHERS + PAGE, wanted=["vllm:num_requests_waiting"])

    assert {sample.name for sample in samples} == {"other_total"}
    assert len(samples) < OTHERS.count(b"\n")


def test_a_large_page_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no page of metrics"):
        read_exposition(b"<p>Bad Gateway</p>" * LARGE_PAGE_BYTES, wanted=["vllm:x"])


def test_a_page_that_breaks_off_in_the_middle_keeps_what_it_had_said() -> None:
    assert len(read_exposition(PAGE + b'vllm:num_requests_waiting{engine="0"')) == 1


@pytest.mark.parametrize(
    "body",
    [b"<html>502 Bad Gateway</html>", b'{"detail":"Not Found"}', b"upstream connect error\n" * 9],
)
def test_a_body_that_is_no_page_of_metrics_raises_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        read_exposition(body)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_with_a_value_error(body: bytes) -> None:
    try:
        samples = read_exposition(body)
    except ValueError:
        return

    assert all(sample.value == sample.value for sample in samples)


@given(st.lists(st.sampled_from([*PAGE.split(b"\n"), b'x{a="', b"y 1 2 3", b"{} }{"])))
def test_broken_lines_never_hide_the_good_ones(lines: list[bytes]) -> None:
    body = b"\n".join([*lines, b"vllm:num_requests_waiting 4", b""])

    assert Sample("vllm:num_requests_waiting", 4.0) in read_exposition(body)
