"""An API key that the server repeats wherever it can is found nowhere afterwards."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from app.launch import MAIN_SCRIPT
from app.settings import CONFIGS_VARIABLE, STORE_VARIABLE
from runner.cli.main import app
from runner.errors import UsageError
from tests.fakes.controlled_configs import ControlledStack, external
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end

CANARY = "sk-canary-4f1b2c"
HIDDEN = b"Bearer " + b"*" * len(CANARY)
KEYS = "    api_key_env: ORACLE_KEY\n    header_env: {X-Team: ORACLE_TEAM}\n"
ENVIRONMENT = {"ORACLE_KEY": f"{CANARY}\n", "ORACLE_TEAM": "team-canary-7d"}
COMMANDS = (
    ("show",),
    ("show", "oracle-test", "--lines"),
    ("show", "oracle-test", "--json"),
    ("verdict", "oracle-test"),
    ("report", "oracle-test"),
    ("stack", "check", "oracle"),
    ("stack", "check", "oracle", "--json"),
    ("watch", "oracle", "--for-minutes", "0.01"),
)
REASONS = {
    "an error of ours": "our own fault: RuntimeError: illegal header value b'Bearer ****",
    "a listener that fails": "our own fault: ValueError: it failed",
}
PAGES = ("campaigns", "overview", "matrix", "arm", "run", "sessions", "session", "logs", "report")
PLACE = {"campaign": "c-1", "run": "r-1", "session": "s-1", "arm": "a-1"}


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlledStack]:
    """Somebody else's server, after a campaign; its own log is its owner's affair."""
    folder = tmp_path_factory.mktemp("talkative")
    made = external(folder, levels=["fp8"], sessions=6, switches=["--tells-headers"], keys=KEYS)
    watching = Watching()
    run_once(folder, watching=watching, environment=ENVIRONMENT)
    (folder / "notes.txt").write_text("\n".join(watching.notes), "utf-8")
    (run,) = stored_runs(folder)
    assert (run.state, run.n_ended) == ("done", 6), (run.reason, watching.notes)
    assert CANARY in (folder / "oracle.journal").read_text("utf-8"), "the server did tell it"
    yield made
    made.close()


def everything_in(store: Path) -> Iterator[tuple[str, bytes]]:
    """(table, bytes) of every value of every row, compressed ones opened."""
    with sqlite3.connect(store) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {table}"):
                for value in row:
                    is_packed = isinstance(value, bytes) and value[:4] == b"\x28\xb5\x2f\xfd"
                    opened = zstandard.decompress(value) if is_packed else str(value).encode()
                    yield table, opened


def files_with(secret: bytes, folder: Path) -> list[str]:
    """The files below the folder that hold it, but for the log of somebody else's server."""
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "oracle.journal" and secret in path.read_bytes()
    ]


def whole_text(page: AppTest) -> str:
    """All that the page sends to a browser."""

    def of(node: object) -> Iterator[str]:
        yield str(getattr(node, "proto", ""))
        for child in getattr(node, "children", {}).values():
            yield from of(child)

    return "\n".join(of(page._tree))


def test_a_key_that_the_server_repeats_is_in_no_row_and_no_file(talkative: ControlledStack) -> None:
    told = list(everything_in(talkative.folder / "decisive.db"))

    tables = {table for table, value in told if HIDDEN in value}
    assert {"raw", "turn", "session", "fingerprint", "log_event"} >= tables > {"raw"}
    assert not [table for table, value in told if CANARY.encode() in value]
    assert files_with(CANARY.encode(), talkative.folder) == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_it(
    command: tuple[str, ...],
    talkative: ControlledStack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {STORE_VARIABLE: store_url(talkative.folder), CONFIGS_VARIABLE: str(talkative.folder)}

    done = CliRunner().invoke(app, list(command), env={**ENVIRONMENT, **named})

    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert len(done.output) > 20
    assert CANARY not in done.output
    assert files_with(CANARY.encode(), tmp_path) == []


def test_no_page_shows_it(talkative: ControlledStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORE_VARIABLE, store_url(talkative.folder))
    monkeypatch.setenv(CONFIGS_VARIABLE, str(talkative.folder))

    for path in PAGES:
        page = AppTest.from_file(str(MAIN_SCRIPT), default_timeout=120)
        for name, value in PLACE.items():
            page.query_params[name] = value
        text = whole_text(page.switch_page(f"screens/{path}.py").run())

        assert len(text) > 1_000, path
        assert CANARY not in text, path


def test_the_log_of_a_server_of_ours_keeps_no_key_either(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, switches=["--tells-headers"])
    stack = tmp_path / "stacks" / "oracle.yaml"
    text = stack.read_text("utf-8").replace("    log: process\n", f"    log: process\n{KEYS}")
    stack.write_text(text, "utf-8")

    run_once(tmp_path, environment=ENVIRONMENT)

    assert files_with(HIDDEN, tmp_path / "decisive-logs") == ["r-1-server.log"]
    assert files_with(CANARY.encode(), tmp_path) == []


@pytest.mark.parametrize("what", ["an error of ours", "a listener that fails"])
def test_what_ends_a_campaign_does_not_say_it(
    what: str, talkative: ControlledStack, tmp_path: Path
) -> None:
    """As a traceback is kept where a fault is our own."""
    failing: dict[str, Callable[[object], None]] = {
        "an error of ours": _quote_the_key,
        "a listener that fails": _quote_the_key_in_a_cause,
    }
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)
    text = (talkative.folder / "stacks" / "oracle.yaml").read_text("utf-8")
    (tmp_path / "stacks" / "oracle.yaml").write_text(text, "utf-8")
    campaign = tmp_path / "campaigns" / "oracle-test.yaml"
    campaign.write_text(campaign.read_text("utf-8").replace("every_run", "when_needed"), "utf-8")

    with pytest.raises(BaseExceptionGroup) as raised:
        run_once(tmp_path, watching=Watching(on_session=failing[what]), environment=ENVIRONMENT)

    told = "".join(_formatted(raised.value))
    assert "*" * len(CANARY) in told
    assert CANARY not in told
    assert files_with(CANARY.encode(), tmp_path) == []
    (run,) = stored_runs(tmp_path)
    assert run.state == "failed"
    assert (run.reason or "").startswith(REASONS[what])


def _quote_the_key(played: object) -> None:
    raise RuntimeError(f"illegal header value b'Bearer {CANARY}'")


def _quote_the_key_in_a_cause(played: object) -> None:
    try:
        _quote_the_key(played)
    except RuntimeError as error:
        raise ValueError("it failed") from error


def _formatted(error: BaseException) -> Iterator[str]:
    """Only what an error says of itself: the source lines of this file hold the key."""
    yield f"{type(error).__name__}: {error}\n"
    for each in (error.__cause__, *getattr(error, "exceptions", ())):
        if each is not None:
            yield from _formatted(each)


def test_a_key_that_is_not_set_is_asked_for_by_name(
    talkative: ControlledStack, tmp_path: Path
) -> None:
    text = (talkative.folder / "stacks" / "oracle.yaml").read_text("utf-8")
    write_oracle_configs(tmp_path, levels=["fp8"], restart="when_needed")
    (tmp_path / "stacks" / "oracle.yaml").write_text(text, "utf-8")

    with pytest.raises(UsageError, match="no ORACLE_KEY, which holds the API key"):
        run_once(tmp_path, environment={"ORACLE_TEAM": "x"})
