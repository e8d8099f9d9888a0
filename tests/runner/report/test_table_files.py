"""Tables as files: what is unknown stays empty, and no cell becomes a formula."""

import csv
import io
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from runner.report.data_tables import Column, ColumnKind, DataTable, Row
from runner.report.table_files import csv_chunks, harmless, write_parquet
from runner.report.visible_text import visible
from tests.runner.report.documents import any_text

COLUMNS = (
    Column("name", ColumnKind.TEXT),
    Column("count", ColumnKind.WHOLE),
    Column("seconds", ColumnKind.REAL),
)
rows = st.lists(
    st.tuples(
        st.none() | any_text,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(allow_nan=False),
    ),
    max_size=8,
)


def _table(rows: Sequence[Row]) -> DataTable:
    def anew() -> Iterator[Row]:
        return iter(rows)

    return DataTable("cases", COLUMNS, anew)


def _csv(table: DataTable) -> list[list[str]]:
    text = b"".join(csv_chunks(table, str)).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


@settings(max_examples=50, deadline=None)
@given(rows)
def test_csv_gives_back_what_went_in(given_rows: list[Row]) -> None:
    header, *read = _csv(_table(given_rows))

    assert header == ["name", "count", "seconds"]
    assert read == [["" if cell is None else _shown(cell) for cell in row] for row in given_rows]


@settings(max_examples=30, deadline=None)
@given(rows)
def test_parquet_gives_back_what_went_in(given_rows: list[Row]) -> None:
    file = io.BytesIO()

    write_parquet(_table(given_rows), file, str)

    file.seek(0)
    read = parquet.read_table(file).to_pylist()
    assert [tuple(row.values()) for row in read] == [
        tuple(visible(cell) if isinstance(cell, str) else cell for cell in row)
        for row in given_rows
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_becomes_a_formula(text: str) -> None:
    assert harmless(text) == f"'{text}"


def test_the_same_rows_give_the_same_bytes() -> None:
    table = _table([("a", 1, 0.5), (None, None, None)])
    first, second = io.BytesIO(), io.BytesIO()

    write_parquet(table, first, str)
    write_parquet(table, second, str)

    assert first.getvalue() == second.getvalue()
    assert list(csv_chunks(table, str)) == list(csv_chunks(table, str))


def _shown(cell: object) -> str:
    return harmless(visible(cell)) if isinstance(cell, str) else str(cell)
