"""The list of faults says what can be switched on, and nothing else."""

import json
import re
from dataclasses import fields

import pytest
from typer.testing import CliRunner

from runner.cli.main import app
from runner.testbed.fault_list import FAULTS, FaultDescription
from runner.testbed.launch_options import parse_launch_options

VALUES = {"N": "3", "S": "0.5", "less than S": "0.2"}


def runnable(switches: str) -> list[str]:
    """The switches with values for their placeholders."""
    filled = re.sub(r"\b(less than S|N|S)\b", lambda found: VALUES[found.group(1)], switches)
    return re.sub(r"(\w+)\|\w+", r"\1", filled).split()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_server_knows_the_switches_of_every_fault(fault: FaultDescription) -> None:
    on = parse_launch_options(runnable(fault.switches))
    off = [] if fault.off == "no switch" else runnable(fault.off)

    assert on != parse_launch_options(off)


def test_the_command_prints_every_fault_for_people_and_for_scripts() -> None:
    text = CliRunner().invoke(app, ["testbed", "faults"])
    listed = CliRunner().invoke(app, ["testbed", "faults", "--json"])

    assert all(fault.name in text.stdout for fault in FAULTS)
    assert [each["name"] for each in json.loads(listed.stdout)] == [each.name for each in FAULTS]
    assert {*json.loads(listed.stdout)[0]} == {field.name for field in fields(FaultDescription)}
