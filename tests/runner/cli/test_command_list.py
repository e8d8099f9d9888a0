"""The list of the commands: what it says of each, and what it leaves unimported."""

import subprocess
import sys
from inspect import cleandoc
from pathlib import Path

import pytest
import typer

from runner.cli.command_list import COMMANDS, listing, loaded_command
from runner.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = frozenset(
    {
        *("aiohttp", "alembic", "httpx", "numpy", "pandas", "prometheus_client", "pydantic"),
        *("scipy", "sqlalchemy", "torch", "uvloop"),
    }
)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_first_paragraph_of_its_own_help(name: str) -> None:
    paragraph = cleandoc(loaded_command(name).help).split("\n\n")[0]

    assert COMMANDS[name].summary == " ".join(paragraph.split())


def test_a_command_of_the_list_that_was_not_loaded_is_refused_in_words() -> None:
    only_listed = typer.main.get_command(listing()).commands["run"].callback  # type: ignore[attr-defined]

    with pytest.raises(UsageError, match="decisive COMMAND"):
        only_listed()


def test_every_module_of_commands_is_listed() -> None:
    modules = {path.stem for path in (ROOT / "runner" / "cli").glob("*_command*.py")}

    assert modules == {listed.module for listed in COMMANDS.values()}


def test_the_help_imports_no_command_and_none_of_their_libraries() -> None:
    imported = _imported_by("--help")

    assert not imported & LIBRARIES
    assert not imported & {f"runner.cli.{listed.module}" for listed in COMMANDS.values()}


def test_reading_a_log_imports_no_database_no_client_and_no_statistics(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("a line\n", "utf-8")

    imported = _imported_by("logs", str(log))

    assert "runner.observe.log_scan" in imported
    assert imported & LIBRARIES == {"numpy", "pydantic"}


def test_a_worker_imports_no_frames_and_no_migrations_before_it_needs_them() -> None:
    imported = _imported_by("worker", "--help")

    assert "runner.execute.worker" in imported
    assert not imported & {"alembic", "pandas", "scipy.optimize", "scipy.stats", "torch"}


def _imported_by(*arguments: str) -> set[str]:
    """The names in sys.modules when `decisive` has ended with these arguments."""
    code = (
        "import runpy, sys; sys.argv[0] = 'decisive'\n"
        "try:\n"
        "    runpy.run_module('runner.cli', run_name='__main__')\n"
        "finally:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(ended.stderr.split())
