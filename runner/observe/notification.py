"""Tells a command of a wedge or a verdict; a command that fails changes nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from runner.observe.bounded_command import run_bounded

DEADLINE_S = 20.0
_MOST_OUTPUT_BYTES = 16 * 1024 * 1024


async def notify(
    argv: Sequence[str], event: str, facts: Mapping[str, Any], *, deadline_s: float = DEADLINE_S
) -> str | None:
    """Runs `argv` with the facts as JSON on its standard input and DECISIVE_EVENT set.

    None where it ended well; else one sentence about what went wrong. It is killed at its deadline,
    and where it prints for ever.
    """
    if not argv:
        return None
    told = json.dumps({"event": event, **facts}, ensure_ascii=False).encode("utf-8", "replace")
    end = await run_bounded(
        argv,
        deadline_s=deadline_s,
        cap_bytes=_MOST_OUTPUT_BYTES,
        told=told + b"\n",
        env={"DECISIVE_EVENT": event},
    )
    if end.is_cut:
        return f"notify: {argv[0]} was ended: it printed more than {_MOST_OUTPUT_BYTES // 1024} KiB"
    return f"notify: {end.trouble}" if end.trouble is not None else None
