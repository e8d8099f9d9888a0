"""Calls a command in this process: its result, its JSON, or the sentence of its refusal."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from db.errors import StoreError
from runner.cli.main import app
from runner.errors import RunnerError


def decisive(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def json_of(*arguments: str, status: int = 0) -> Any:
    result = decisive(*arguments, "--json")
    assert result.exit_code == status, result.exception or result.stderr
    return json.loads(result.stdout)


def refusal(*arguments: str) -> str:
    """The one sentence with which a command is refused."""
    error = decisive(*arguments).exception
    assert isinstance(error, RunnerError | StoreError), error
    assert "\n" not in str(error)
    return str(error)
