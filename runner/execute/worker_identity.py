"""Who a process is to the store and to the leases that it takes."""

import os

from db.process_liveness import this_host
from db.stack_lease import Holder


def holder_of(kind: str) -> Holder:
    """`run-4711@host` or `worker-4711@host`: unique among the processes that live now."""
    host, process_id = this_host(), os.getpid()
    return Holder(name=f"{kind}-{process_id}@{host}", host=host, process_id=process_id)
