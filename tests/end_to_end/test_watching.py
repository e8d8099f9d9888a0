"""`decisive watch` beside a real server that works, rests, and stops answering."""

import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runner.control.ports import free_port
from tests.end_to_end.processes import ROOT, answers, decisive, wait_for
from tests.fakes.oracle_configs import write_oracle_configs

pytestmark = pytest.mark.end_to_end


@contextmanager
def oracle(*switches: str) -> Iterator[str]:
    port = free_port()
    argv = [sys.executable, "-m", "tests.fakes.oracle_server", "--port", str(port), *switches]
    process = subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers(f"{url}/health"), what="a server")
        yield url
    finally:
        process.kill()
        process.wait()


def _chat(url: str) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
    request = urllib.request.Request(f"{url}/v1/chat/completions", body)
    try:
        urllib.request.urlopen(request, timeout=30).close()
    except OSError:
        return


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    return write_oracle_configs(tmp_path, levels=["fp8"])


def _watch(configs: Path, url: str, *more: str) -> subprocess.CompletedProcess[str]:
    boxes = str(configs / "boxes")
    return decisive(
        "watch", "oracle", "--url", f"server={url}", "--boxes", boxes, *more, configs=configs
    )


def test_an_idle_server_is_watched_without_an_alarm(configs: Path) -> None:
    with oracle() as url:
        watched = _watch(configs, url, "--for-minutes", "0.15", "--longest-pause", "2")

    assert watched.returncode == 0, watched.stderr
    assert "server: idle running=0" in watched.stdout


def test_requests_of_somebody_else_that_hang_are_a_wedge_with_a_box(configs: Path) -> None:
    with oracle("--hang-after", "1") as url:
        _chat(url)
        for _ in range(3):
            threading.Thread(target=_chat, args=(url,), daemon=True).start()
        watched = _watch(configs, url, "--for-minutes", "0.25", "--longest-pause", "4")

    assert watched.returncode == 1, watched.stdout + watched.stderr
    assert "WEDGE in server" in watched.stdout
    assert "the wedge in server has lasted" in watched.stdout
    (box,) = (configs / "boxes").iterdir()
    assert json.loads((box / "wedge.json").read_text("utf-8"))["rule"] == "engine"
    assert "num_running_reqs" in (box / "server-metrics").read_text("utf-8")
    assert "== process" in (box / "server-stacks").read_text("utf-8")
    assert json.loads((box / "end.json").read_text("utf-8"))["end"]


def test_a_stack_whose_ports_are_free_must_be_located(configs: Path) -> None:
    refused = decisive("watch", "oracle", configs=configs)

    assert refused.returncode == 2
    assert "--url server=http://HOST:PORT" in refused.stderr
    assert "Traceback" not in refused.stderr
