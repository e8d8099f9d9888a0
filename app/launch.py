"""How the dashboard is started: Streamlit on the entry script, in a process of its own."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

MAIN_SCRIPT = Path(__file__).with_name("main.py")


def dashboard_command(port: int) -> list[str]:
    """The argument list of a dashboard on 127.0.0.1.

    The child reads DECISIVE_STORE and DECISIVE_CONFIGS; everything else about the server lies in
    `app/.streamlit/config.toml`, which Streamlit finds beside the entry script.
    """
    return [
        *(sys.executable, "-P", "-m", "streamlit", "run", str(MAIN_SCRIPT)),
        *("--server.port", str(port)),
        *("--server.address", "127.0.0.1"),
        *("--server.headless", "true"),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Become the dashboard: `python -m app.launch [PORT]`; replaces this process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = dashboard_command(int(given[0]) if given else 8501)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
