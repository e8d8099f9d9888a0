"""How many tokens a KV page holds, by what a server said of itself; pure."""

from collections.abc import Iterable, Mapping
from typing import Any

_NAMES = ("page_size", "block_size", "kv_block_size")  # SGLang, vLLM, Dynamo
_DEPTH = 4


def page_tokens(reports: Iterable[Mapping[str, Any]]) -> int | None:
    """None where no service tells, or where they tell otherwise."""
    told = {size for report in reports for size in _sizes(report, _DEPTH)}
    return told.pop() if len(told) == 1 else None


def _sizes(value: object, depth: int) -> Iterable[int]:
    if depth == 0:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _NAMES and isinstance(inner, int) and not isinstance(inner, bool):
                yield inner
            else:
                yield from _sizes(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _sizes(inner, depth - 1)
