"""What was seen of the servers during a run: their logs, their metrics, their wedges."""

from sqlalchemy import BigInteger, Column, Index, Text
from sqlmodel import Field, SQLModel

from db.tables.columns import Json, JsonList, id_of, json_list, json_object
from db.tables.runs import RunRow


class LogEventRow(SQLModel, table=True):
    """One line of a service's log that means something, with its normalised kind."""

    __tablename__ = "log_event"
    __table_args__ = (Index("log_event_of_run", "run_id", "at_us"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key=id_of(RunRow))
    service: str
    at_us: int = Field(sa_type=BigInteger)
    kind: str
    event_class: str
    request_ref: str | None = None
    is_own_cancellation: bool = False
    line: str = Field(sa_column=Column(Text, nullable=False))


class MetricSampleRow(SQLModel, table=True):
    """One value of one series at one scrape. Missing values have no row: missing is not zero."""

    __tablename__ = "metric_sample"
    __table_args__ = (Index("metric_series", "run_id", "name", "at_us"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key=id_of(RunRow))
    service: str
    at_us: int = Field(sa_type=BigInteger)
    name: str
    labels: Json = json_object()
    value: float


class WedgeRow(SQLModel, table=True):
    """A span in which requests were in flight and nothing moved."""

    __tablename__ = "wedge"

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key=id_of(RunRow), index=True)
    service: str
    started_at_us: int = Field(sa_type=BigInteger)
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)
    victims: JsonList = json_list()
    evidence: Json = json_object()
