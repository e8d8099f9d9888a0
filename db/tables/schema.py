"""The whole schema: every table of the store, its constraints and its indexes.

Times are UTC microseconds since the epoch (`*_at_us`), durations are seconds (`*_s`). Ids are
integers; in addresses and output they carry a letter (`db.identifiers`). There are no ORM
relationships: reads are named queries in `db.reads`, and SQLModel tables do not validate, so values
are checked where they enter.
"""

from sqlmodel import SQLModel

from db.tables import campaigns, observations, runs, sessions, work  # noqa: F401  (fill it)

SCHEMA = SQLModel.metadata
