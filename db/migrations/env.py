"""What Alembic runs for each command: our tables, on the connection that the caller opened.

The caller owns the transaction, so that all migrations of one opening happen or none does.
"""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlmodel.sql.sqltypes import AutoString

from db.tables.schema import SCHEMA


def _render_item(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Plain SQLAlchemy types, so that an old migration never depends on SQLModel."""
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SCHEMA,
    render_as_batch=True,
    render_item=_render_item,
)
with context.begin_transaction():
    context.run_migrations()
