"""A request may ask for a campaign to be run until it is decided, and for how many blocks at most."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("launch_request") as table:
        table.add_column(sa.Column("most_blocks", sa.Integer(), nullable=True))
