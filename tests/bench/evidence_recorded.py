"""Recorded runs for the bench of the verdicts, from the file that `evidence_recording` made."""

import json
from dataclasses import dataclass
from pathlib import Path

from runner.evidence.silent_sessions import LaunchCounts


@dataclass(frozen=True, slots=True)
class RecordedArms:
    """`comparisons`: name, changed arm, arm compared with. Every run of a `wedged` arm wedged."""

    about: str
    arms: dict[str, list[LaunchCounts]]
    comparisons: tuple[tuple[str, str, str], ...]
    wedged: frozenset[str]


def read_recorded_arms(path: Path) -> RecordedArms:
    content = json.loads(path.read_text(encoding="utf-8"))
    return RecordedArms(
        about=content["about"],
        arms={
            name: [LaunchCounts(*counts) for counts in runs]
            for name, runs in content["arms"].items()
        },
        comparisons=tuple(tuple(each) for each in content["comparisons"]),
        wedged=frozenset(content["wedged"]),
    )
