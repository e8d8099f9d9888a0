"""How a column is declared, for the tables beside this file; knows no table."""

from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Column
from sqlmodel import Field, SQLModel

Json = dict[str, Any]
JsonList = list[Any]

# Every constraint has a name, so that a migration can drop it on any database.
SQLModel.metadata.naming_convention = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "ix": "ix_%(column_0_label)s",
}


def id_of(row: type[SQLModel]) -> str:
    """Where a foreign key to this table points."""
    return f"{row.__tablename__}.id"


def one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    """Nothing else may stand in this column."""
    allowed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({allowed})", name=f"{column}_known")


def json_object() -> Any:
    return Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def json_list() -> Any:
    return Field(default_factory=list, sa_column=Column(JSON, nullable=False))
