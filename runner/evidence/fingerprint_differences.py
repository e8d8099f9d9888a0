"""In what two arms differ besides their levels, by what their launches said of themselves; pure.

Of a server's report only the top level counts, where servers tell how they were launched: what lies
below is state. What is of one moment or one process, and what follows from other settings (sizes
of pools, say), is no setting. Machines, versions and commits are compared whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Launch: TypeAlias = Mapping[str, Mapping[str, Any]]
"""What one launch left: by service, by `client`, by `host NAME` and by `NAME facts`, as JSON."""

UNKNOWN = "could not be had"
ABSENT = "absent"

_OF_THE_MOMENT = re.compile(
    r"(^|_)(pid|port|ports|time|timestamp|uptime|started|date|seed|url|addr|address|status|state|"
    r"states|throughput|usage|load|available|free|used|events|health|uuid|session|"
    r"media_marker)(_|$)",  # llama.cpp draws the last one anew at each start
    re.IGNORECASE,
)
_THAT_FOLLOWS = re.compile(
    r"(^|_)(max_total|max_req|num_tokens|num_pages|num_blocks|capacity|bytes|memory)(_|$)",
    re.IGNORECASE,
)
_WHAT_WAS_RUN = frozenset({"version", "model_path", "weight_version", "git_commit"})
_MOST_TEXT = 60


def fingerprint_differences(
    after: Sequence[Launch], before: Sequence[Launch], *, declared: frozenset[str]
) -> tuple[str, ...]:
    """`server page_size: 64 v 1`, by name; empty where an arm left nothing to compare.

    `declared` names settings that the levels set: `hicache_ratio`, or `tp` for `tp_size`. A setting
    that took several values in one arm is of the moment if it took another at each launch; else it
    differs where the arms did not see the same values.
    """
    first, second = _values_of(after), _values_of(before)
    common = {name.partition(" ")[0] for name in first} & {n.partition(" ")[0] for n in second}
    differing = []
    for name in sorted(first.keys() | second.keys()):
        if name.partition(" ")[0] not in common:
            continue
        own, other = first.get(name, [ABSENT]), second.get(name, [ABSENT])
        if _is_declared(name, declared) or set(own) == set(other) or _is_unknown(own, other):
            continue
        if not _is_identity(name) and (_changes_always(own) or _changes_always(other)):
            continue
        differing.append(f"{name}: {_text(own)} v {_text(other)}")
    return tuple(differing)


def declared_settings(words: Sequence[str], paths: Sequence[str]) -> frozenset[str]:
    """Settings named by arguments (`--page-size`, `--tp=2`) and by the last part of paths."""
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    ends = [path.rpartition(".")[2] for path in paths]
    names = [*(flag.removeprefix("--") for flag in flags), *ends]
    return frozenset(name.replace("-", "_").lower() for name in names)


def _values_of(launches: Sequence[Launch]) -> dict[str, list[str]]:
    """Setting to its value at each launch that knows the service; one that lacks it is ABSENT."""
    by_service: dict[str, list[dict[str, str]]] = {}
    for launch in launches:
        for service, facts in launch.items():
            by_service.setdefault(service, []).append(dict(_settings(service, facts)))
    found: dict[str, list[str]] = {}
    for service, settings in by_service.items():
        for name in {name for each in settings for name in each}:
            found[f"{_spaced(service)} {name}"] = [each.get(name, ABSENT) for each in settings]
    return found


def _settings(service: str, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if _is_of_machine(_spaced(service)):
        yield from _flattened(facts, "")
        return
    for name, value in facts.items():
        if _OF_THE_MOMENT.search(name) or _THAT_FOLLOWS.search(name) or _is_nested(value):
            continue
        yield name.lower(), _value_text(value)


def _flattened(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flattened(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and _is_nested(value):
        for index, inner in enumerate(value):
            yield from _flattened(inner, f"{path}.{index}" if path else str(index))
    else:
        yield path, _value_text(value)


def _is_nested(value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, Mapping | list) for each in value)
    return isinstance(value, Mapping)


def _spaced(service: str) -> str:
    """A name of one word, so that what follows the first space is the setting's name."""
    return service.replace(" ", "-")


def _is_of_machine(service: str) -> bool:
    return service == "client" or service.startswith("host-") or service.endswith("-facts")


def _is_identity(name: str) -> bool:
    """Whether it says what was run, which never is of the moment."""
    service, _, setting = name.partition(" ")
    return _is_of_machine(service) or setting in _WHAT_WAS_RUN


def _is_declared(name: str, declared: frozenset[str]) -> bool:
    """No level declares a machine."""
    service, _, setting = name.partition(" ")
    if _is_of_machine(service):
        return False
    return any(setting == each or setting.startswith(f"{each}_") for each in declared)


def _is_unknown(own: Sequence[str], other: Sequence[str]) -> bool:
    return any(value.startswith(UNKNOWN) for value in (*own, *other))


def _changes_always(values: Sequence[str]) -> bool:
    return len(values) > 1 and len(set(values)) == len(values)


def _value_text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _text(values: Sequence[str]) -> str:
    said = " or ".join(sorted(set(values)))
    return f"{said[:_MOST_TEXT]}..." if len(said) > _MOST_TEXT else said
