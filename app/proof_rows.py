"""What was proven of an arm and measured of the client, as rows of small tables; pure.

Cells are Markdown; what servers and files said is escaped here.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.markdown_text import plain
from runner.evidence.wording import count_text

_HOLDS = ":blue[:material/check:]"
_FAILS = ":orange[:material/close:]"
_UNPROVEN = ":gray[:material/help:]"


def check_rows(verification: Sequence[Any]) -> list[dict[str, str]]:
    """One row a check; a factor that the server says nothing about is named, never assumed."""
    return [_check_row(check) for check in verification if isinstance(check, Mapping)]


def exposure_rows(exposure: Mapping[str, Any]) -> list[dict[str, str]]:
    """One row a counter that shows whether the path of a factor was used at all."""
    counters = exposure.get("counters")
    return [
        {
            "": _HOLDS if counter.get("exercised") else _FAILS,
            "factor": plain(str(counter.get("factor", ""))),
            "counter": plain(_last(str(counter.get("counter", "")), ":") + _labels(counter)),
            "grown by": plain(value_text(counter.get("grown"))),
        }
        for counter in (counters if isinstance(counters, list) else [])
        if isinstance(counter, Mapping)
    ]


def flood_sentence(exposure: Mapping[str, Any]) -> str | None:
    """What was sent before the run so that its sessions load back; None where nothing was."""
    flood = exposure.get("evict_flood")
    if not isinstance(flood, Mapping):
        return None
    prompts, tokens, first = (
        value_text(flood.get(name)) for name in ("prompts", "tokens", "first_requests")
    )
    return (
        f"Before the run {first} first requests and {prompts} prompts of {tokens} tokens were "
        "sent, so that its sessions load back what they ask first. They count in nothing."
    )


def health_rows(health: Mapping[str, Any]) -> dict[str, str]:
    """Figure -> value with its unit: a key ending in `_s` is in seconds, a share a part of one."""
    rows = {}
    for key, value in health.items():
        name = key.removesuffix("_s").replace("_", " ")
        rows[plain(name)] = plain(_health_text(key, value))
    return rows


def _health_text(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value_text(value)
    if key.endswith("_s"):
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
    return f"{value * 100:.3g} %" if "share" in key.split("_") else value_text(value)


def command_text(command: object) -> str:
    """A recorded command as one would type it: environment first, then the arguments."""
    if not isinstance(command, Mapping):
        return " ".join(map(str, command)) if isinstance(command, list) else str(command)
    environment = command.get("env")
    words = [f"{name}={value}" for name, value in environment.items()] if environment else []
    argv = command.get("argv")
    return " ".join([*words, *map(str, argv if isinstance(argv, list) else [])])


def value_text(value: object) -> str:
    """A JSON value for people: thousands commas, three digits, cut where it is long."""
    if value is None:
        return "not reported"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return count_text(int(value))
    if isinstance(value, float):
        return f"{value:.3g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:159] + "…"


def _check_row(check: Mapping[str, Any]) -> dict[str, str]:
    factor = " ".join(str(check[key]) for key in ("factor", "level") if check.get(key) is not None)
    if check.get("holds") is None:
        return {"": _UNPROVEN, "factor": plain(factor), "expected": "", "found": "not verifiable"}
    where = _last(str(check.get("path", "")), ".")
    return {
        "": _HOLDS if check["holds"] else _FAILS,
        "factor": f"{plain(factor)}  \n:small[:gray[{plain(where)}]]",
        "expected": plain(value_text(check.get("expected"))),
        "found": plain(value_text(check.get("found"))),
    }


def _labels(counter: Mapping[str, Any]) -> str:
    labels = counter.get("labels")
    if not isinstance(labels, Mapping) or not labels:
        return ""
    return " " + ", ".join(f"{name} {value}" for name, value in labels.items())


def _last(text: str, separator: str) -> str:
    return text.rpartition(separator)[2]
