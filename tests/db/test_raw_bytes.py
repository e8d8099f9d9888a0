from hypothesis import given
from hypothesis import strategies as st

from db.raw_bytes import CAP_BYTES, compress, decompress, keep, raw_row
from db.read_times import ReadTimes
from db.vocabulary import RawKind

ZSTD_MAGIC = bytes.fromhex("28b52ffd")  # RFC 8878, section 3.1.1


@given(st.binary(max_size=4096))
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    assert decompress(compress(data)) == data


def test_the_stored_form_is_a_zstandard_frame() -> None:
    assert compress(b"abc").startswith(ZSTD_MAGIC)


@given(st.binary(max_size=300), st.integers(min_value=0, max_value=300))
def test_what_is_kept_is_the_start_and_says_how_much_there_was(data: bytes, cap: int) -> None:
    kept = keep(data, cap_bytes=cap)

    assert decompress(kept.content) == data[:cap]
    assert kept.size_bytes == len(data)
    assert kept.is_capped == (len(data) > cap)


def test_a_response_of_exactly_the_limit_is_kept_whole() -> None:
    assert not keep(bytes(CAP_BYTES)).is_capped
    assert keep(bytes(CAP_BYTES + 1)).is_capped


def test_repetitive_streams_become_small() -> None:
    stream = b'data: {"choices": [{"delta": {"content": "word "}}]}\n\n' * 1000

    assert len(compress(stream)) < len(stream) / 50


def test_a_raw_row_keeps_its_read_times_to_the_microsecond() -> None:
    row = raw_row(7, RawKind.RESPONSE, b"data", at_us=12, reads=ReadTimes((0.123456789,), (4,)))

    assert row.reads == [[0.123457, 4]]
    assert (row.run_id, row.kind, row.at_us, row.size_bytes) == (7, "response", 12, 4)
