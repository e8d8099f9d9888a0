"""How many processes play the sessions of a run; it knows numbers and starts nothing."""

import os
from math import ceil
from typing import Final

SESSIONS_A_PROCESS: Final = 250
"""The whole client of 500 streams of 50 tokens a second saturates a core (tests/bench): half as
many leave room for what such a figure leaves out, as TLS, long answers and a busy machine."""


def client_processes(chosen: int | None, *, concurrency: int, cores: int | None = None) -> int:
    """`chosen`, where a file says a number; else one for each 250 sessions at a time.

    Never more than there are sessions at a time; unless chosen, never more than all cores but one,
    which is left to whoever stores the sessions. `cores`: None for those this process may use.
    """
    if chosen is not None:
        return min(chosen, concurrency)
    usable = _usable_cores() if cores is None else cores
    return max(1, min(ceil(concurrency / SESSIONS_A_PROCESS), usable - 1))


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not every platform says which ones are ours
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
