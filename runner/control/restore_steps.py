"""How a stack is given back as it was found: commands that are noted before the first change.

They hold all that is needed, so that whoever finds them after a kill can restore without the stack
file, and doing it twice does no harm.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.control.machine import Machine, run_well
from runner.errors import StackControlError

DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class RestoreStep:
    """One command that brings `part` of the stack nearer to what was found."""

    part: str
    argv: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"part": self.part, "argv": list(self.argv)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RestoreStep":
        return cls(str(value["part"]), tuple(str(word) for word in value["argv"]))


def steps_to_json(steps: Sequence[RestoreStep], *, host: str) -> dict[str, Any]:
    """As it is kept with the lease; an empty object for nothing to restore.

    `host` is the machine on which these commands mean what they say.
    """
    if not steps:
        return {}
    return {"host": host, "restore": [step.to_json() for step in steps]}


def steps_from_json(found: Mapping[str, Any]) -> tuple[RestoreStep, ...]:
    return tuple(RestoreStep.from_json(each) for each in found.get("restore", ()))


def restore(steps: Sequence[RestoreStep], machine: Machine) -> tuple[str, ...]:
    """Takes all steps in their order; what failed, as sentences.

    After a step that failed the further ones of the same part are left out.
    """
    by_part: dict[str, list[RestoreStep]] = defaultdict(list)
    for step in steps:
        by_part[step.part].append(step)
    failures = [_restore_part(part, own, machine) for part, own in by_part.items()]
    return tuple(failure for failure in failures if failure is not None)


def _restore_part(part: str, steps: Sequence[RestoreStep], machine: Machine) -> str | None:
    try:
        for step in steps:
            run_well(machine, step.argv, changes=True, deadline_s=DEADLINE_S)
    except StackControlError as error:
        return f"{part} is not as it was found: {error}"
    return None
