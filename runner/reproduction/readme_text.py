"""The README of a reproduction: what was seen, on which stack, how to run it, what to expect."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from db.identifiers import IdKind, format_id
from runner.campaign.file_shape import level_text
from runner.evidence.number_words import counted_text, of_text
from runner.evidence.rates import Rate
from runner.evidence.wording import interval_text, moment_text, percent_text
from runner.report.redaction import Redacted, Redactor
from runner.reproduction.recorded_load import RecordedLoad, SeenRuns, number_of

_MAX_DETAIL = 400

_HOW_TO_RUN = """\
## How to run it

Start the stack in that state, with empty caches, and:

    pip install httpx
    python replay.py http://HOST:PORT --times 3

`replay.py` sends every recorded request of the sessions that overlapped, each session at its
offset, each turn after the answer to the one before it and the pause that was recorded, and counts
what comes back wrong. `curl.sh` sends the turns of this one session alone. The bodies in
`requests/` are the recorded bytes; the script changes only the request's own name, where a server
was told one. Before each time it empties the caches where the stack had a page for that
(`--flush`); warm caches give another rate. No key is in any file:
`--api-key-env NAME` and, for curl, `API_KEY` say where it is read from.

It ends with 0 if something was wrong again, 1 if nothing was, 2 if it could not be played, and 3 if
too little was answered to say."""

_EXPECTATION = """\
Expect a rate like that of all sessions, not of this one turn: which session is hit differs from
time to time. Sessions of one time are not independent, so several times say more than one. Each
turn is sent with the context that was recorded, whatever this server answered before; a session
that was corrupt then has no turns after that one."""


def readme_text(load: RecordedLoad) -> str:
    """Keys that stand in the recorded commands are taken out."""
    return Redactor([Redacted.KEYS])("\n".join(_lines(load)) + "\n")


def seen_text(load: RecordedLoad) -> str:
    """`run r-3: 41 of 80 sessions corrupt, 51.3 % [40.5-62.0]`, and that of all runs of the arm."""
    said = f"run {format_id(IdKind.RUN, load.run.id)}: {_rate_text(load.seen_in_run)}"
    if load.seen_in_arm.runs > 1:
        said += f"; all {load.seen_in_arm.runs} runs of this arm: {_rate_text(load.seen_in_arm)}"
    return said


def _rate_text(seen: SeenRuns) -> str:
    if seen.evidence == 0:
        return f"no session gave evidence, {seen.silent} were silent"
    rate = Rate(seen.corrupt, seen.evidence)
    said = f"{of_text(seen.corrupt, seen.evidence)} sessions corrupt, {percent_text(rate)} "
    said += interval_text(rate.wilson())
    return said + (f", {seen.silent} silent" if seen.silent else "")


def _lines(load: RecordedLoad) -> Iterator[str]:
    session = format_id(IdKind.SESSION, load.focus.id)
    yield f"# Reproduction of {session}, turn {number_of(load.focus_turn)}"
    yield ""
    yield from _seen_lines(load)
    yield ""
    yield from _stack_lines(load)
    yield ""
    yield _HOW_TO_RUN
    yield ""
    yield from _expectation_lines(load)


def _seen_lines(load: RecordedLoad) -> Iterator[str]:
    turn, focus = load.focus_turn, load.focus
    yield "## What was seen"
    yield ""
    yield f"* campaign `{load.campaign.name}`, run {format_id(IdKind.RUN, load.run.id)},"
    yield f"  arm `{load.arm.name}`, {moment_text(turn.started_at_us)}"
    yield f"* the session ended as `{focus.outcome}`{_reason(focus.reason, focus.detail)}"
    if turn.outcome is not None:
        yield f"* this turn was `{turn.outcome}`{_reason(turn.reason, turn.detail)}"
    yield f"* {counted_text(len(load.plays), 'session')} overlapped with it, itself included"
    if load.cut:
        yield f"* left out, because their requests were not kept whole: {', '.join(load.cut)}"


def _reason(reason: str | None, detail: str | None) -> str:
    said = [part for part in (reason, detail) if part]
    text = " ".join(": ".join(said).split())[:_MAX_DETAIL].replace("`", "'")
    return f": `{text}`" if text else ""


def _stack_lines(load: RecordedLoad) -> Iterator[str]:
    yield "## The stack"
    yield ""
    yield "| factor | level |"
    yield "| --- | --- |"
    for name, level in load.arm.levels.items():
        yield f"| {name} | {level_text(level)} |"
    commands = {} if load.launch is None else dict(_commands(load.launch.commands))
    if commands:
        yield ""
        yield "It had been started with (ports are those of that day):"
        for service, command in commands.items():
            yield ""
            yield f"    # {service}"
            yield f"    {command}"


def _commands(stored: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for service, command in stored.items():
        if isinstance(command, Mapping) and command.get("argv"):
            env = [f"{name}={value}" for name, value in (command.get("env") or {}).items()]
            yield service, shlex.join([*env, *map(str, command["argv"])])


def _expectation_lines(load: RecordedLoad) -> Iterator[str]:
    yield "## What to expect"
    yield ""
    yield f"When it was recorded, {seen_text(load)}."
    yield _EXPECTATION
