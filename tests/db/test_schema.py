"""The migrations make exactly the schema of `db.tables`, and old stores can still be opened."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import col, select

from db.errors import StoreTooNewError, StoreTooOldError, StoreUnreadableError
from db.judgements import recorded_sessions
from db.migrations import drafting
from db.runs import transition_run
from db.schema_version import SCHEMA_VERSION, migration_config, revision_name
from db.store import Store, open_store, open_store_read_only
from db.tables.campaigns import CampaignRow, VerdictRow
from db.tables.runs import RunRow
from db.tables.schema import SCHEMA
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_id

ASSETS = Path(__file__).parent / "assets"
KEPT_STORES = sorted(ASSETS.glob("store_*.sqlite.zst"))


def test_alembic_finds_no_difference_between_migrations_and_tables(store: Store) -> None:
    with store.session() as session:
        context = MigrationContext.configure(session.connection())
        differences = compare_metadata(context, SCHEMA)

    assert differences == []


def test_the_migrated_schema_equals_the_tables_to_the_letter(store: Store) -> None:
    """Alembic does not compare CHECK constraints, so the statements themselves are compared."""
    engine = create_engine("sqlite://")
    SCHEMA.create_all(engine)

    with store.session() as session, engine.connect() as connection:
        migrated = schema_statements(session.connection())
        declared = schema_statements(connection)
    engine.dispose()

    assert migrated == declared


def test_the_newest_migration_is_the_version_of_this_program() -> None:
    scripts = ScriptDirectory.from_config(migration_config())

    assert scripts.get_heads() == [revision_name(SCHEMA_VERSION)]


def test_the_versions_are_counted_without_a_gap() -> None:
    scripts = ScriptDirectory.from_config(migration_config())

    names = [script.revision for script in scripts.walk_revisions()]
    assert names == [revision_name(version) for version in range(SCHEMA_VERSION, 0, -1)]


def test_every_version_has_a_kept_store() -> None:
    names = [path.name for path in KEPT_STORES]

    assert names == [f"store_{revision_name(v)}.sqlite.zst" for v in range(1, SCHEMA_VERSION + 1)]


@pytest.mark.parametrize("kept", KEPT_STORES, ids=lambda path: path.name)
def test_a_kept_store_opens_with_all_that_was_in_it(
    tmp_path: Path, kept: Path, store: Store
) -> None:
    file = tmp_path / "old.db"
    file.write_bytes(zstandard.ZstdDecompressor().decompress(kept.read_bytes()))

    with open_store(f"sqlite:///{file}") as old:
        with old.session() as session, store.session() as fresh:
            assert session.exec(select(CampaignRow.name)).all() == ["decisive-test"]
            runs = session.exec(select(RunRow).order_by(col(RunRow.id))).all()
            assert [(run.state, run.n_ended) for run in runs] == [("done", 4), ("driving", 1)]
            assert session.exec(select(VerdictRow.headline)).all() == ["refuted"]
            assert schema_statements(session.connection()) == schema_statements(fresh.connection())
        sessions = list(recorded_sessions(old, stored_id(runs[0])))
        assert [each.session.outcome for each in sessions] == [
            Outcome.LEAK,
            Outcome.ERROR,
            Outcome.DONE,
            Outcome.DONE,
        ]
        assert sessions[0].turns[0].response == b"data: [DONE]\n\n"
        assert transition_run(old, stored_id(runs[1]), RunState.SETTLING).state == "settling"


@pytest.mark.parametrize("opening", [open_store, open_store_read_only])
def test_a_newer_store_is_refused_by_readers_and_writers(
    store: Store, opening: Callable[[str], Store]
) -> None:
    set_version(store, SCHEMA_VERSION + 1)

    said = f"schema {SCHEMA_VERSION + 1}, newer than the schema {SCHEMA_VERSION}"
    with pytest.raises(StoreTooNewError, match=said) as refused:
        opening(store.url)

    assert "upgrade Decisive" in str(refused.value)


def test_an_older_store_is_refused_by_a_reader_which_migrates_nothing(store: Store) -> None:
    set_version(store, SCHEMA_VERSION - 1)

    said = rf"has schema {SCHEMA_VERSION - 1} .* reads schema {SCHEMA_VERSION}.*upgrades it"
    with pytest.raises(StoreTooOldError, match=said):
        open_store_read_only(store.url)


def test_opening_again_changes_nothing(store: Store) -> None:
    with store.session() as session:
        before = session.connection().exec_driver_sql("PRAGMA schema_version").scalar_one()

    open_store(store.url).close()

    with store.session() as session:
        after = session.connection().exec_driver_sql("PRAGMA schema_version").scalar_one()
    assert after == before


def test_the_schema_can_be_created_on_postgresql() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    tables = SCHEMA.sorted_tables

    statements = [str(CreateTable(table).compile(dialect=dialect)) for table in tables]
    indexes = [
        str(CreateIndex(index).compile(dialect=dialect))
        for table in tables
        for index in table.indexes
    ]

    moments = [line for each in statements for line in each.splitlines() if "_us " in line]
    assert moments
    assert all("BIGINT" in line for line in moments), "microseconds do not fit in 32 bits"
    assert len({statement.split()[2] for statement in indexes}) == len(indexes)


def test_every_outcome_has_its_counter_in_the_run() -> None:
    columns = set(SCHEMA.tables["run"].columns.keys())

    assert {f"n_{outcome}" for outcome in Outcome} <= columns


def test_a_draft_of_a_migration_holds_what_the_tables_have_and_the_store_has_not(
    tmp_path: Path,
) -> None:
    migrations = tmp_path / "migrations"
    shutil.copytree(Path(drafting.__file__).parent, migrations)

    drafting.draft_migration("nothing new", scratch_folder=tmp_path, migrations_folder=migrations)

    (draft,) = (migrations / "versions").glob(f"{revision_name(SCHEMA_VERSION + 1)}_*.py")
    written = draft.read_text()
    assert f"revision = '{revision_name(SCHEMA_VERSION + 1)}'" in written
    assert "op." not in written, "the tables have something that no migration makes"


def schema_statements(connection: Connection) -> dict[str, str]:
    """Name to statement of all tables and indexes; white space, quotes and order of parts aside."""
    rows = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'alem%'")
    )
    return {name: _normal(sql) for name, sql in rows}


def set_version(store: Store, version: int) -> None:
    with store.write() as session:
        session.connection().execute(
            text("UPDATE alembic_version SET version_num = :name"), {"name": revision_name(version)}
        )


def _normal(sql: str) -> str:
    """Its parts, apart at the commas of the outermost parentheses: SQLite writes a column that was
    added behind all others, on their line."""
    head, parenthesis, rest = sql.replace('"', "").partition("(")
    parts, depth = [""], 0
    for letter in rest.rstrip().removesuffix(")"):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    lines = (" ".join(part.split()) for part in parts)
    return "\n".join([" ".join(head.split()) + parenthesis, *sorted(lines)])


def test_a_schema_that_no_version_wrote_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'decisive.db'}"
    with open_store(url) as store, store.write() as session:
        session.connection().execute(text("UPDATE alembic_version SET version_num = 'odd'"))

    for opening in (open_store, open_store_read_only):
        with pytest.raises(StoreUnreadableError, match="its schema is 'odd', which no version"):
            opening(url)
