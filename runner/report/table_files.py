"""Tables as CSV for people's spreadsheets and as Parquet for programs, row by row.

What others wrote cannot become a formula in a spreadsheet, and the same rows give the same bytes.
"""

import csv
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from runner.report.data_tables import Cell, Column, ColumnKind, DataTable, Row
from runner.report.visible_text import visible

Redact = Callable[[str], str]

_ROWS_AT_ONCE = 5_000
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_chunks(table: DataTable, redact: Redact) -> Iterator[bytes]:
    """UTF-8 with a header; an empty cell where nothing is known."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows():
        writer.writerow([_csv_cell(cell, redact) for cell in row])
        if line.size > 65_536:
            yield line.taken()
    yield line.taken()


def harmless(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(_BEGINS_FORMULA) else text


def write_parquet(table: DataTable, into: BinaryIO, redact: Redact) -> None:
    """With zstd; a null where nothing is known."""
    import pyarrow
    from pyarrow import parquet

    kinds = {
        ColumnKind.TEXT: pyarrow.string(),
        ColumnKind.WHOLE: pyarrow.int64(),
        ColumnKind.REAL: pyarrow.float64(),
    }
    schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in table.columns])
    rows = table.rows()
    with parquet.ParquetWriter(into, schema, compression="zstd") as writer:
        while part := list(islice(rows, _ROWS_AT_ONCE)):
            writer.write_table(pyarrow.table(_by_column(table.columns, part, redact), schema))


def _by_column(columns: tuple[Column, ...], rows: list[Row], redact: Redact) -> dict[str, Any]:
    return {
        column.name: [_plain(row[place], redact) for row in rows]
        for place, column in enumerate(columns)
    }


def _plain(cell: Cell, redact: Redact) -> Cell:
    return visible(redact(cell)) if isinstance(cell, str) else cell


def _csv_cell(cell: Cell, redact: Redact) -> Cell:
    return harmless(visible(redact(cell))) if isinstance(cell, str) else cell


class _Line:
    """What a csv writer writes to; it is taken away in pieces."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.size = 0

    def write(self, text: str) -> int:
        self._parts.append(text)
        self.size += len(text)
        return len(text)

    def taken(self) -> bytes:
        text = "".join(self._parts)
        self._parts, self.size = [], 0
        return text.encode()
