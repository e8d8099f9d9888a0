import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.observe.exposition import Sample, read_exposition

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
