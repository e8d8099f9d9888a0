"""Where there is nothing to judge, a command says so and never that all is well."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from runner.cli.console import ExitStatus
from runner.cli.main import app
from runner.errors import UsageError

CONFIGS = str(Path(__file__).resolve().parents[3] / "configs")


def _run(command: str, file: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, str(file), "--configs", CONFIGS, *arguments])


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "empty"
    path.touch()
    return path


def test_an_empty_log_is_not_called_benign(empty: Path) -> None:
    said = _run("logs", empty)
    told = _run("logs", empty, "--json")

    assert said.exit_code == told.exit_code == ExitStatus.COULD_NOT_SAY
    assert said.stdout == "EMPTY  (0 lines): this says nothing of the server\n"
    assert json.loads(told.stdout)["verdict"] == "empty"


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_file_without_a_case_is_not_called_right(empty: Path, arguments: tuple[str, ...]) -> None:
    empty.write_text("\n\n", "utf-8")

    error = _run("cases", empty, *arguments).exception

    assert isinstance(error, UsageError)
    assert str(error) == f"{empty} holds no case, so that nothing was judged: a case is a line"
