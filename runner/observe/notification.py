"""Tells a command of a wedge or a verdict; a command that fails changes nothing."""

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

DEADLINE_S = 20.0


async def notify(argv: Sequence[str], event: str, facts: Mapping[str, Any]) -> str | None:
    """Runs `argv` with the facts as JSON on its standard input and DECISIVE_EVENT set.

    None where it ended well; else one sentence about what went wrong. It is killed at its deadline.
    """
    if not argv:
        return None
    told = json.dumps({"event": event, **facts}, ensure_ascii=False).encode("utf-8", "replace")
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "DECISIVE_EVENT": event},
            start_new_session=True,
        )
    except OSError as error:
        return f"notify: cannot start '{argv[0]}': {error.strerror}"
    try:
        async with asyncio.timeout(DEADLINE_S):
            await process.communicate(told + b"\n")
    except TimeoutError:
        return f"notify: '{argv[0]}' had not ended after {DEADLINE_S:g} s"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return f"notify: '{argv[0]}' ended with {process.returncode}" if process.returncode else None
