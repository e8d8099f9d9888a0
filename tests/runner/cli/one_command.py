"""One command by itself, as Typer makes it of its function."""

from collections.abc import Callable
from typing import Any

import typer


def invoked(command: Callable[..., Any]) -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return app
