"""Drafts the next migration from what `db.tables` has and the migrations so far do not.

Run `python -m db.migrations.drafting "keep the notes of an arm"`, read, correct and format it,
raise `db.schema_version.SCHEMA_VERSION`, and keep a store of the version before under
`tests/db/assets`. Stores are only ever upgraded, so migrations have no way back.
"""

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory

from db.connections import migrating_engine
from db.schema_version import MIGRATIONS_FOLDER, migrate, migration_config, revision_name
from db.store_url import parse_store_url


def draft_migration(
    message: str, *, scratch_folder: Path, migrations_folder: Path = MIGRATIONS_FOLDER
) -> None:
    """Write the next file in `versions`, against a store made in `scratch_folder`."""
    url = parse_store_url(f"sqlite:///{scratch_folder / 'draft.db'}")
    version = _newest_version(migrations_folder)
    if version > 0:
        migrate(url, to_version=version)
    engine = migrating_engine(url)
    try:
        with engine.begin() as connection:
            command.revision(
                migration_config(connection, folder=migrations_folder),
                message,
                autogenerate=True,
                rev_id=revision_name(version + 1),
            )
    finally:
        engine.dispose()


def _newest_version(migrations_folder: Path) -> int:
    config = migration_config(folder=migrations_folder)
    head = ScriptDirectory.from_config(config).get_current_head()
    return 0 if head is None else int(head)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draft_migration(sys.argv[1], scratch_folder=Path(folder))
