"""Rows as a pandas frame. Pandas is imported for the first of them: most programs make none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select

if TYPE_CHECKING:
    from pandas import DataFrame


def frame_of(
    connection: Connection, statement: "Select[Any]", columns: Sequence[str]
) -> "DataFrame":
    """One row of the frame for each that is selected, in its order."""
    from pandas import DataFrame

    return DataFrame(connection.execute(statement).all(), columns=list(columns))
