"""What a report says of the servers: how they were started, and what they said of themselves."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.report.arm_result import ArmResult
from runner.report.document import (
    Block,
    Paragraph,
    Section,
    SectionRole,
    Table,
    Verbatim,
)
from runner.report.report_record import ReportedLaunch

_TELLING = (
    "version",
    "model_path",
    "models",
    "served_model_name",
    "device",
    "tp_size",
    "dp_size",
    "ep_size",
    "kv_cache_dtype",
    "attention_backend",
    "disaggregation_mode",
    "enable_hierarchical_cache",
    "tool_call_parser",
    "reasoning_parser",
    "speculative_algorithm",
    "context_length",
    "system",
    "machine",
    "python",
    "packages",
)
_MOST_VALUE = 120


def stack_sections(
    launches: Sequence[ReportedLaunch], results: Sequence[ArmResult]
) -> tuple[Section, ...]:
    """Those that have something to say."""
    sections = (
        Section("Servers and client", fact_blocks(launches), role=SectionRole.ENVIRONMENT),
        Section("Commands", command_blocks(launches, results), role=SectionRole.REPRODUCTION),
    )
    return tuple(section for section in sections if section.blocks)


def command_blocks(
    launches: Sequence[ReportedLaunch], results: Sequence[ArmResult]
) -> tuple[Block, ...]:
    """The commands of the first launch of each arm, for every service one; ports differ later."""
    blocks: list[Block] = []
    for result in results:
        own = (each for each in launches if result.arm.id in each.arm_ids and each.commands)
        launch = next(own, None)
        if launch is None:
            continue
        blocks.append(Paragraph(f"{result.name}:"))
        blocks.append(Verbatim("\n".join(_commands(launch.commands))))
    return tuple(blocks)


def fact_blocks(launches: Sequence[ReportedLaunch]) -> tuple[Block, ...]:
    """Facts that tell one installation from another; several values where launches differ."""
    rows = tuple((service, name, " or ".join(values)) for service, name, values in _facts(launches))
    if not rows:
        return ()
    said = Paragraph("What they said of themselves; several values where launches differ.")
    return (said, Table(("service", "fact", "value"), rows))


def command_text(command: object) -> str:
    """A recorded command as one would type it: environment first, then the arguments."""
    if isinstance(command, Mapping):
        environment, argv = command.get("env"), command.get("argv")
        given = environment.items() if isinstance(environment, Mapping) else ()
        words = [f"{name}={shlex.quote(str(value))}" for name, value in given]
        return " ".join([*words, *_quoted(argv)])
    return " ".join(_quoted(command)) if isinstance(command, list) else str(command)


def _quoted(argv: object) -> list[str]:
    return [shlex.quote(str(word)) for word in argv] if isinstance(argv, list) else []


def _commands(commands: Mapping[str, Any]) -> Iterator[str]:
    for service, command in commands.items():
        yield f"{service}: {command_text(command)}"


def _facts(launches: Sequence[ReportedLaunch]) -> Iterator[tuple[str, str, list[str]]]:
    services = list(dict.fromkeys(service for each in launches for service in each.facts))
    for service in services:
        reports = [each.facts[service] for each in launches if service in each.facts]
        for name in _TELLING:
            found = [report[name] for report in reports if report.get(name) is not None]
            values = list(dict.fromkeys(map(_value, found)))
            if values:
                yield service, name, values


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}…"
