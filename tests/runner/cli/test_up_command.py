"""`decisive up`: where its dashboard is, and what it says where it cannot be as was asked."""

from pathlib import Path

import pytest

from runner.cli.up_command import open_in_browser, usable_port
from runner.errors import UsageError

PAGE = "http://127.0.0.1:8502"


def test_the_dashboard_is_on_its_own_port_without_a_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert usable_port(None, lambda port: False) == 8501

    assert capsys.readouterr().out == ""


def test_where_its_port_is_taken_the_next_free_one_is_used_and_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert usable_port(None, lambda port: port < 8503) == 8503

    assert capsys.readouterr().out == (
        "port 8501 is in use by another program; this dashboard is on 8503 (--port names another)\n"
    )


def test_a_port_that_was_named_is_that_one_or_none() -> None:
    assert usable_port(8600, lambda port: port == 8501) == 8600

    with pytest.raises(UsageError, match="port 8600 is in use; name another with --port"):
        usable_port(8600, lambda port: port == 8600)


def test_a_machine_without_a_free_port_is_told_so() -> None:
    with pytest.raises(UsageError, match="the ports 8501 to 8600 are all in use"):
        usable_port(None, lambda port: True)


def test_a_page_that_cannot_be_opened_is_said_with_its_address(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")

    open_in_browser(PAGE, {}, lambda page: pytest.fail("opened"))
    open_in_browser(PAGE, {"DISPLAY": ":0"}, lambda page: False)
    open_in_browser(PAGE, {"DISPLAY": ":0"}, lambda page: True)

    assert capsys.readouterr().err.splitlines() == [
        f"--open: there is no display here; open {PAGE} yourself",
        f"--open: no browser could be started here; open {PAGE} yourself",
    ]


def test_the_demo_takes_the_port_that_make_is_given() -> None:
    makefile = (Path(__file__).parents[3] / "Makefile").read_text("utf-8")

    assert "--open $(if $(PORT),--port $(PORT))" in makefile
