"""Launch switches, and the command line as a process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from dataclasses import asdict

import pytest

from runner.testbed.command_line import main
from runner.testbed.launch_options import ALL_TOKENS, LaunchOptions, parse_launch_options


def test_no_switch_gives_the_defaults() -> None:
    assert parse_launch_options([]) == LaunchOptions()


def test_switches_are_read() -> None:
    command = (
        "--port 8000 --index-k-dtype fp8 --enable-hierarchical-cache --host-index-bytes dtype "
        "--index-topk all --pages 100 --max-running 8 --stall-transfer-after 40 "
        "--disaggregation-waiting-timeout 2.5 --no-access-log"
    )

    options = parse_launch_options(command.split())

    assert options == LaunchOptions(
        port=8000,
        index_k_dtype="fp8",
        enable_hierarchical_cache=True,
        host_index_bytes="dtype",
        index_topk=ALL_TOKENS,
        pages=100,
        max_running_requests=8,
        stall_transfer_after=40,
        disaggregation_waiting_timeout=2.5,
        access_log=False,
    )


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        ("--index-k-dtype int4", "choose from"),
        ("--pages 0", "not a positive number"),
        ("--pages 3", "needs 16"),
        ("--context-length 2048", "1024 positions"),
        ("--stall-transfer-after -1", "negative"),
        ("--unheard-of", "unrecognized"),
    ],
)
def test_a_switch_that_does_not_fit_is_named(
    switches: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        parse_launch_options(switches.split())

    assert exit_.value.code == 2
    assert words in capsys.readouterr().err


def test_the_defaults_can_be_told_in_json() -> None:
    assert json.loads(json.dumps(asdict(LaunchOptions()), allow_nan=False))["port"] == 0


def test_without_a_command_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "serve" in capsys.readouterr().err


def test_a_taken_port_is_one_clear_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert main(["serve", "--port", str(port)]) == 2

    assert f"Cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err


def test_the_process_prints_where_it_listens_and_answers_there() -> None:
    command = [sys.executable, "-m", "runner.testbed", "serve", "--port", "0", "--pages", "16"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout is not None and p.stderr is not None
            line = p.stdout.readline()
            url = line.rsplit(" ", 1)[1].strip()
            with urllib.request.urlopen(f"{url}/health", timeout=60) as response:
                assert response.status == 200
        finally:
            p.terminate()
        log = p.stderr.read()
    assert "The server is fired up and ready to roll!" in log
    assert "INFO:     127.0.0.1:" in log and '"GET /health HTTP/1.1" 200 OK' in log
