"""The switches of the testbed's server, and what their help says of them."""

import pytest

from runner.testbed.launch_options import parse_launch_options


def test_each_of_the_two_topologies_can_be_asked_for() -> None:
    asked: list[list[str]] = [[], ["--split"], ["--unified"], ["--split", "--unified"]]

    topologies = [parse_launch_options(argv).topology for argv in asked]

    assert topologies == ["unified", "split", "unified", "unified"]


def test_the_help_says_which_command_serves_which_topology_by_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parse_launch_options(["--split", "--help"])

    said = " ".join(capsys.readouterr().out.split())
    assert "in one process, as `python -m runner.testbed serve` does --split" in said
    assert "decode process, as `decisive testbed serve` does --disagg" in said
