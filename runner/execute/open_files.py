"""Sees to it that this process may open as many sockets as it will drive sessions."""

import resource

from runner.errors import UsageError

_OF_OUR_OWN = 128
"""Store, logs, scrapes, canaries, and what the interpreter holds itself."""


def provide_open_files(concurrency: int) -> None:
    """Raises our soft limit as far as needed. Raises UsageError where the hard one forbids it."""
    needed = concurrency + _OF_OUR_OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _allows(soft, needed):
        return
    if not _allows(hard, needed):
        raise UsageError(
            f"{concurrency} sessions at a time need {needed} open files, and this process may have "
            f"{hard}: raise the limit (ulimit -Hn), or lower the concurrency"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _allows(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed
