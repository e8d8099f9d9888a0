"""`decisive logs` over real files."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from runner.cli.main import app
from runner.errors import UsageError

CONFIGS = str(Path(__file__).resolve().parents[3] / "configs")
GONE = (
    "[2026-04-09 18:00:12] Request is disconnected from the client side (type 3). "
    "Abort request obj.rid='r1'\n"
)
DEAD = "[2026-04-09 18:00:12] SIGQUIT received. signum=None, frame=None.\n"


def _logs(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["logs", *arguments, "--configs", CONFIGS], input=stdin)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(GONE, "utf-8")
    return path


def test_a_log_with_an_alarm_is_told_and_changes_the_exit_status(log: Path) -> None:
    log.write_text(DEAD, "utf-8")

    result = _logs(str(log))

    assert result.exit_code == 1
    assert "process_exit" in result.stdout and "CRASH  (1 lines)" in result.stdout


def test_a_log_without_one_is_fine(log: Path) -> None:
    result = _logs(str(log), "--json")

    reading = json.loads(result.stdout)
    assert result.exit_code == 0
    assert reading["verdict"] == "benign"
    assert reading["events"][0]["requests"] == ["r1"]


def test_requests_that_we_ended_ourselves_are_named_with_their_time(log: Path) -> None:
    before = _logs(str(log), "--ended", "r1=2026-04-09 18:00:30")
    after = _logs(str(log), "--ended", "r1=2026-04-09 18:00:10")

    assert (before.exit_code, after.exit_code) == (1, 0)


def test_standard_input_is_read_for_a_dash() -> None:
    assert _logs("-", stdin=DEAD).exit_code == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (bytes(range(256)) * 40, "is no log but a binary file"),
        (b"\x1f\x8b" + bytes(range(256)), "is packed by gzip: unpack it, for example gzip -dc /"),
        (b"BZh91AY&SY" + bytes(range(256)), "is packed by bzip2"),
        (DEAD.encode("utf-16"), "is in UTF-16, as PowerShell writes: convert it, for example"),
        (DEAD.encode("utf-16-le"), "is in UTF-16"),
    ],
)
def test_what_is_no_text_is_refused(log: Path, content: bytes, said: str) -> None:
    log.write_bytes(content)

    error = _logs(str(log)).exception

    assert isinstance(error, UsageError)
    assert said in str(error)


def test_a_block_of_nul_bytes_in_a_log_that_was_cut_is_read_over(log: Path) -> None:
    log.write_bytes(bytes(100_000) + b"\n" + DEAD.encode())

    assert _logs(str(log)).exit_code == 1


@pytest.mark.parametrize("arguments", [["absent.log"], ["-", "--ended", "r1=noon"]])
def test_what_cannot_be_read_is_refused_with_a_sentence(arguments: list[str]) -> None:
    assert isinstance(_logs(*arguments).exception, UsageError)


def test_a_log_that_holds_markup_and_control_characters_is_shown_as_text(log: Path) -> None:
    hostile = "[/red] [bold]x[/bold] \x1b\x1b[31m\x9b2J"
    log.write_text(f"[2026-08-22 09:15:02 TP0] Scheduler hit an exception: {hostile}\n", "utf-8")

    result = _logs(str(log))

    assert result.exit_code == 1
    assert "[/red] [bold]x[/bold]" in result.stdout
    assert not {"\x1b", "\x9b"} & set(result.stdout)
