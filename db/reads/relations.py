"""The tables as the reads name them, and how a row becomes a value; knows no query.

A value's field names are the columns that are read: what a page does not use is not fetched.
"""

from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Column, Result, Row, Table
from sqlmodel import SQLModel

from db.tables import campaigns, observations, runs, sessions, work

Value = TypeVar("Value")


def _relation(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(model.__tablename__)]


CAMPAIGN = _relation(campaigns.CampaignRow)
ARM = _relation(campaigns.ArmRow)
LAUNCH = _relation(runs.LaunchRow)
FINGERPRINT = _relation(runs.FingerprintRow)
RUN = _relation(runs.RunRow)
SESSION = _relation(sessions.SessionRow)
TURN = _relation(sessions.TurnRow)
RAW = _relation(sessions.RawRow)
LOG_EVENT = _relation(observations.LogEventRow)
METRIC_SAMPLE = _relation(observations.MetricSampleRow)
WEDGE = _relation(observations.WedgeRow)
HYPOTHESIS = _relation(campaigns.HypothesisRow)
VERDICT = _relation(campaigns.VerdictRow)
NOTE = _relation(campaigns.NoteRow)
LAUNCH_REQUEST = _relation(work.LaunchRequestRow)
STACK_LEASE = _relation(work.StackLeaseRow)
WORKER = _relation(work.WorkerRow)


def columns_of(relation: Table, value: type[Any]) -> list[Column[Any]]:
    """The columns of `relation` that `value`, a dataclass or a NamedTuple, has fields for."""
    names = getattr(value, "_fields", None) or [field.name for field in fields(value)]
    return [relation.c[name] for name in names]


def values(kind: type[Value], rows: Result[Any]) -> list[Value]:
    """A NamedTuple's columns must be in its order; it is made in a twentieth of the time."""
    if (make := getattr(kind, "_make", None)) is not None:
        return [make(row) for row in rows.all()]
    names = tuple(rows.keys())
    return [kind(**dict(zip(names, row, strict=True))) for row in rows.all()]


def value_or_none(kind: type[Value], row: Row[Any] | None) -> Value | None:
    return None if row is None else kind(**row._mapping)
