"""The dashboard starts as a process on this machine only, and reads where it was told to."""

import subprocess
import sys
import tomllib
from pathlib import Path

from app.launch import MAIN_SCRIPT, dashboard_command
from app.settings import read_settings

CONFIG = tomllib.loads((MAIN_SCRIPT.parent / ".streamlit" / "config.toml").read_text("utf-8"))


def test_the_command_runs_the_entry_script_on_the_loopback_address() -> None:
    command = dashboard_command(8777)

    assert command[:5] == [sys.executable, "-P", "-m", "streamlit", "run"]
    assert Path(command[5]) == MAIN_SCRIPT
    assert command[command.index("--server.port") + 1] == "8777"
    assert command[command.index("--server.address") + 1] == "127.0.0.1"


def test_a_file_where_it_is_started_is_never_taken_for_a_module(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('the wrong queue')")
    command = dashboard_command(8777)
    flags = command[: command.index("-m")]

    subprocess.run([*flags, "-c", "import queue"], cwd=tmp_path, check=True)


def test_the_server_is_private_by_its_own_settings() -> None:
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert CONFIG["server"]["fileWatcherType"] == "none"
    assert set(CONFIG["server"]["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["client"]["showErrorDetails"] == "none"


def test_no_font_or_script_comes_from_another_host() -> None:
    urls = [face["url"] for face in CONFIG["theme"]["fontFaces"]]

    assert all(url.startswith("data:") for url in urls)


def test_store_and_configs_come_from_the_environment() -> None:
    settings = read_settings({"DECISIVE_STORE": "sqlite:////x/y.db", "DECISIVE_CONFIGS": "/c"})

    assert settings.store_url == "sqlite:////x/y.db"
    assert settings.configs == Path("/c")


def test_without_an_environment_the_usual_places_are_taken() -> None:
    settings = read_settings({})

    assert settings.store_url == "sqlite:///decisive.db"
    assert settings.configs is None
