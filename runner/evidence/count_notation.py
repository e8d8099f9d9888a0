"""Counts as people type them: `5/80`, `3/80+2/80` for runs, silent sessions apart."""

import re
from collections.abc import Sequence

from runner.errors import UsageError
from runner.evidence.silent_sessions import LaunchCounts

_FORM = "corrupt/sessions, runs joined by +: 5/80 or 3/80+2/80"


def parse_arm(text: str, *, silent: str = "0") -> tuple[LaunchCounts, ...]:
    """`silent`: how many of the sessions gave no evidence, joined by + for several runs.

    Raises UsageError with one sentence for what does not fit.
    """
    runs = [_parse_run(part) for part in text.split("+")]
    silences = _parse_silent(silent, runs=len(runs), arm=text)
    return tuple(
        _launch(corrupt, sessions, e, text=text)
        for (corrupt, sessions), e in zip(runs, silences, strict=True)
    )


def parse_arms(
    after: str, before: str, *, silent: str | None = None
) -> tuple[tuple[LaunchCounts, ...], tuple[LaunchCounts, ...]]:
    """`silent` as `75,0`: of the first arm, then of the second."""
    parts = (silent or "0,0").split(",")
    if len(parts) != 2:
        raise UsageError(f"silent sessions are given as AFTER,BEFORE such as 75,0, not {silent!r}")
    return parse_arm(after, silent=parts[0]), parse_arm(before, silent=parts[1])


def _parse_run(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*", text, re.ASCII)
    if not match:
        raise UsageError(f"counts are written {_FORM}; found {text!r}")
    corrupt, sessions = int(match[1]), int(match[2])
    if sessions < 1 or corrupt > sessions:
        raise UsageError(f"{text.strip()} is no part of its sessions; counts are written {_FORM}")
    return corrupt, sessions


def _parse_silent(text: str, *, runs: int, arm: str) -> Sequence[int]:
    parts = text.split("+")
    if not all(re.fullmatch(r"\s*[0-9]{1,9}\s*", part, re.ASCII) for part in parts):
        raise UsageError(f"silent sessions are whole numbers, not {text!r}")
    silences = [int(part) for part in parts]
    if silences == [0]:
        return [0] * runs
    if len(silences) != runs:
        raise UsageError(f"{arm} has {runs} runs, so give silent sessions for each, joined by +")
    return silences


def _launch(corrupt: int, sessions: int, silent: int, *, text: str) -> LaunchCounts:
    if corrupt + silent > sessions:
        raise UsageError(
            f"{text}: {corrupt} corrupt and {silent} silent are more than {sessions} sessions"
        )
    return LaunchCounts(sessions - corrupt - silent, corrupt, silent)
