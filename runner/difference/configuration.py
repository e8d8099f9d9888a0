"""Two runs' configurations laid side by side: levels, commands, and what the servers said; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.reads.campaigns import ArmFacts
from db.reads.runs import FingerprintFacts, LaunchFacts

FACTOR = "factor"
COMMAND = "command"
SAID = "server"
DEFINED = "campaign"

# Facts of one process or one moment, not of a configuration.
_OF_THE_MOMENT = re.compile(
    r"(^|[._])(pid|port|ports|time|timestamp|uptime|started|start_time|nccl_port|seed_time|"
    r"last_gen_throughput|num_running_reqs|token_usage|url|base_url|dist_init_addr|"
    r"media_marker)([._]|$)",
    re.IGNORECASE,
)
ABSENT = "–"


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """One setting on both sides; `kind` says where it was read."""

    kind: str
    name: str
    a: str
    b: str

    @property
    def differs(self) -> bool:
        return self.a != self.b

    @property
    def short_name(self) -> str:
        """Without the path inside a server's report, which is long and says little."""
        service, _, name = self.name.partition(" ")
        return f"{service} {name.rpartition('.')[2]}" if self.kind == SAID else self.name


@dataclass(frozen=True, slots=True)
class ConfigSide:
    """What is known of one run's configuration."""

    arm: ArmFacts
    launch: LaunchFacts | None
    fingerprints: Sequence[FingerprintFacts]


def config_rows(a: ConfigSide, b: ConfigSide) -> list[ConfigRow]:
    """Every setting that either side has: the declared factors first."""
    sides = [dict(_settings(side)) for side in (a, b)]
    keys = list(dict.fromkeys([*sides[0], *sides[1]]))
    rows = [
        ConfigRow(kind, name, *(side.get((kind, name), ABSENT) for side in sides))
        for kind, name in keys
    ]
    order = {FACTOR: 0, COMMAND: 1, SAID: 2}
    return _said_once(sorted(rows, key=lambda row: order[row.kind]))


def definition_rows(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[ConfigRow]:
    """Two campaigns as they were defined, setting by setting."""
    sides = [dict(flattened(each)) for each in (a, b)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [ConfigRow(DEFINED, x, *(side.get(x, ABSENT) for side in sides)) for x in names]


def flattened(facts: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested JSON as dotted names with their values; what belongs to the moment is left out."""
    if isinstance(facts, Mapping):
        items = [(str(key), value) for key, value in facts.items()]
    elif isinstance(facts, list) and any(isinstance(item, Mapping | list) for item in facts):
        items = [(str(index), value) for index, value in enumerate(facts)]
    else:
        if not _OF_THE_MOMENT.search(prefix):
            yield prefix, _text(facts)
        return
    for key, value in items:
        yield from flattened(value, f"{prefix}.{key}" if prefix else key)


def _said_once(rows: Sequence[ConfigRow]) -> list[ConfigRow]:
    """Servers repeat their arguments in nested states: the first, shortest name stands for all."""
    kept: dict[tuple[str, str, str, str, str], ConfigRow] = {}
    for row in rows:
        service, _, name = row.name.partition(" ")
        last = name.rpartition(".")[2] if row.kind == SAID else name
        kept.setdefault((row.kind, service, last, row.a, row.b), row)
    return list(kept.values())


def _settings(side: ConfigSide) -> Iterator[tuple[tuple[str, str], str]]:
    for factor, level in side.arm.levels.items():
        yield (FACTOR, str(factor)), _text(level)
    for service, command in (side.launch.commands if side.launch else {}).items():
        for name, value in _arguments(command):
            yield (COMMAND, f"{service} {name}"), value
    for fingerprint in side.fingerprints:
        for name, value in flattened(fingerprint.facts):
            yield (SAID, f"{fingerprint.service} {name}"), value


def _arguments(command: Any) -> Iterator[tuple[str, str]]:
    """`--flag value` pairs of an argument list; a flag without a value is `on`."""
    argv = command.get("argv") if isinstance(command, Mapping) else command
    words = [str(word) for word in argv] if isinstance(argv, list) else []
    for position, word in enumerate(words):
        if not word.startswith("--") or _OF_THE_MOMENT.search(word.lstrip("-")):
            continue
        following = words[position + 1] if position + 1 < len(words) else ""
        yield word, "on" if not following or following.startswith("--") else following


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ABSENT if value is None else str(value)
