"""What a launch ran on: host, GPUs and driver, and what the stack file has commands for.

Nothing here ends a run: what could not be had is told in its place.
"""

from collections.abc import Sequence
from typing import Any

from runner.control.host import Host
from runner.control.machine import Machine
from runner.errors import StackControlError
from runner.stacks.service_control import host_of
from runner.stacks.service_launch import ServiceLaunch

DEADLINE_S = 15.0
_MOST_CHARACTERS = 2_000
_GPU_COLUMNS = ("name", "driver_version", "memory.total")


def machine_facts(launches: Sequence[ServiceLaunch], machine: Machine) -> dict[str, Any]:
    """By the name under which it is kept: a host's facts, or those of a service's commands.

    Waits for commands: call it in a thread.
    """
    hosts = {host_of(launch): None for launch in launches if launch.is_controlled}
    found: dict[str, Any] = {f"host {host.name}": host_facts(host, machine) for host in hosts}
    for launch in launches:
        if launch.definition.facts:
            host = host_of(launch)
            found[f"{launch.name} facts"] = {
                name: _said(host, [launch.fill(word) for word in words], machine)
                for name, words in launch.definition.facts.items()
            }
    return found


def host_facts(host: Host, machine: Machine) -> dict[str, Any]:
    """`gpus` is empty where none can be seen."""
    query = [*host.nvidia_smi, f"--query-gpu={','.join(_GPU_COLUMNS)}", "--format=csv,noheader"]
    try:
        done = machine.run(host.argv(query), deadline_s=DEADLINE_S)
        rows = done.stdout.splitlines() if done.status == 0 else []
    except StackControlError:
        rows = []
    cells = [[cell.strip() for cell in row.split(",")] for row in rows]
    return {
        "system": _said(host, ["uname", "-srm"], machine),
        "name": _said(host, ["uname", "-n"], machine),
        "gpus": [
            dict(zip(_GPU_COLUMNS, row, strict=True))
            for row in cells
            if len(row) == len(_GPU_COLUMNS)
        ],
    }


def _said(host: Host, words: Sequence[str], machine: Machine) -> str:
    try:
        done = machine.run(host.argv(words), deadline_s=DEADLINE_S)
    except StackControlError as error:
        return f"could not be had: {error}"[:_MOST_CHARACTERS]
    if done.status != 0:
        return f"could not be had: {done.stderr.strip() or done.status}"[:_MOST_CHARACTERS]
    return done.stdout.strip()[:_MOST_CHARACTERS]
