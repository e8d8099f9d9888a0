"""A reproduction of a recorded session, made by the command and run against a real server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from db.judgements import recorded_sessions
from db.store import open_store_read_only
from runner.control.ports import free_port
from runner.errors import UsageError
from runner.reproduction.folder import folder_files, write_folder
from runner.reproduction.recorded_load import RecordedLoad, recorded_load
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import run_once, store_url

pytestmark = pytest.mark.end_to_end
DEADLINE_S = 120


@pytest.fixture(scope="module")
def configs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run, of which every third call leaked."""
    folder = tmp_path_factory.mktemp("recorded")
    write_oracle_configs(folder, levels=["bf16"], sessions=8)
    run_once(folder)
    return folder


@pytest.fixture(scope="module")
def load(configs: Path) -> RecordedLoad:
    with open_store_read_only(store_url(configs)) as store:
        leaked = next(
            x.session.id for x in recorded_sessions(store, 1) if x.session.outcome == "leak"
        )
        return recorded_load(store, f"s-{leaked}")


@contextmanager
def oracle(*switches: str) -> Iterator[str]:
    port = free_port()
    argv = [sys.executable, "-m", "tests.fakes.oracle_server", "--port", str(port), *switches]
    server = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    try:
        transport = httpx.HTTPTransport(retries=30)  # waits 0.5 s more each time: minutes in all
        with httpx.Client(transport=transport, timeout=DEADLINE_S) as client:
            client.get(f"http://127.0.0.1:{port}/health").raise_for_status()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait(DEADLINE_S)


def played(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "replay.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def test_a_leak_comes_back_when_the_folder_runs_against_the_same_stack(
    load: RecordedLoad, tmp_path: Path
) -> None:
    write_folder(folder_files(load), tmp_path / "repro")

    with oracle("--leak-every", "3") as url:
        again = played(tmp_path / "repro", url, "--times", "2")

    assert again.returncode == 0, again.stderr
    assert "caches are not empty" not in again.stdout
    assert "markup in the text" in again.stdout
    assert "time 2 of 2" in again.stdout
    assert f"when it was recorded: run r-1: {load.seen_in_run.corrupt} of 8" in again.stdout


def test_nothing_comes_back_from_a_stack_without_the_fault(
    load: RecordedLoad, tmp_path: Path
) -> None:
    write_folder(folder_files(load), tmp_path / "repro")

    with oracle() as url:
        again = played(tmp_path / "repro", f"{url}/v1", "--times", "1")
        silent = played(tmp_path / "repro", "http://127.0.0.1:1", "--times", "1")

    assert (again.returncode, again.stderr) == (1, "")
    assert "all sessions: 0 of" in again.stdout
    assert silent.returncode == 3


def test_the_bodies_are_the_recorded_bytes_and_all_that_overlapped_is_there(
    load: RecordedLoad, configs: Path
) -> None:
    files = folder_files(load)

    with open_store_read_only(store_url(configs)) as store:
        own = next(x for x in recorded_sessions(store, 1) if x.session.id == load.focus.id)
    for recorded in own.turns:
        path = f"requests/s-{load.focus.id}-{recorded.turn.turn_index + 1}.json"
        assert files[path] == recorded.request
    described = json.loads(files["load.json"])
    assert {path for path in files if path.startswith("requests/")} == {
        turn["request"] for each in described["sessions"] for turn in each["turns"]
    }
    overlapping = [play.session for play in load.plays]
    assert all(each.started_at_us <= load.focus.ended_at_us for each in overlapping)
    assert min(play.starts_after_s for play in load.plays) == 0


def test_the_script_is_the_file_of_the_package_and_names_no_key(load: RecordedLoad) -> None:
    files = folder_files(load)

    compile(files["replay.py"], "replay.py", "exec")
    assert b"import runner" not in files["replay.py"]
    assert b"from runner" not in files["replay.py"]
    assert b"API_KEY" in files["curl.sh"]


def test_the_readme_says_what_was_seen_and_what_to_expect(load: RecordedLoad) -> None:
    text = folder_files(load)["README.md"].decode()

    assert f"# Reproduction of s-{load.focus.id}, turn {load.focus_turn.turn_index + 1}" in text
    assert "this turn was `leak`" in text
    assert "| index_keys | bf16 |" in text
    assert f"{load.seen_in_run.corrupt} of 8 sessions corrupt" in text


def test_no_folder_is_overwritten_and_a_failed_one_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()

    with pytest.raises(UsageError, match="nothing in it is overwritten"):
        write_folder({"README.md": b""}, tmp_path / "there")
    with pytest.raises(OSError, match=r"Not a directory|exists"):
        write_folder({"a": b"", "a/b": b""}, tmp_path / "new")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["there"]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("r-1", "is no session"),
        ("s-999", "has no session s-999"),
        ("s-1/77", "has no turn 77: its turns are 1 to "),
        ("s-1/0", "has no turn 0"),
        ("", "is no session"),
    ],
)
def test_what_is_not_there_is_one_sentence(configs: Path, reference: str, said: str) -> None:
    with (
        open_store_read_only(store_url(configs)) as store,
        pytest.raises(UsageError, match=said),
    ):
        recorded_load(store, reference)
