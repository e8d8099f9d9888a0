"""The tables as the reads name them, and how a row becomes a value; knows no query.

A value's field names are the columns that are read: what a page does not use is not fetched.
"""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Column, Row, Table
from sqlmodel import SQLModel

from db import tables

Value = TypeVar("Value")


def _relation(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(model.__tablename__)]


CAMPAIGN = _relation(tables.CampaignRow)
ARM = _relation(tables.ArmRow)
LAUNCH = _relation(tables.LaunchRow)
FINGERPRINT = _relation(tables.FingerprintRow)
RUN = _relation(tables.RunRow)
SESSION = _relation(tables.SessionRow)
TURN = _relation(tables.TurnRow)
RAW = _relation(tables.RawRow)
LOG_EVENT = _relation(tables.LogEventRow)
METRIC_SAMPLE = _relation(tables.MetricSampleRow)
WEDGE = _relation(tables.WedgeRow)
HYPOTHESIS = _relation(tables.HypothesisRow)
VERDICT = _relation(tables.VerdictRow)
NOTE = _relation(tables.NoteRow)
LAUNCH_REQUEST = _relation(tables.LaunchRequestRow)
STACK_LEASE = _relation(tables.StackLeaseRow)
WORKER = _relation(tables.WorkerRow)


def columns_of(relation: Table, value: type[Any]) -> list[Column[Any]]:
    """The columns of `relation` that the dataclass `value` has fields for, in its order."""
    return [relation.c[field.name] for field in fields(value)]


def values(kind: type[Value], rows: Iterable[Row[Any]]) -> list[Value]:
    return [kind(**row._mapping) for row in rows]


def value_or_none(kind: type[Value], row: Row[Any] | None) -> Value | None:
    return None if row is None else kind(**row._mapping)
