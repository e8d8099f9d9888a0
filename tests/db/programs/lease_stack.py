"""Tries to take the stack `testbed` as the holder named; prints whether it got it, then waits."""

import os
import sys

from db.errors import StackLeasedError
from db.process_liveness import this_host
from db.stack_lease import Holder, acquire_stack
from db.store import open_store
from db.workers import liveness_now
from tests.db.programs.starting_line import say, wait_for_the_others

url, name = sys.argv[1:]
with open_store(url) as store:
    wait_for_the_others()
    holder = Holder(name, this_host(), os.getpid())
    try:
        acquire_stack(store, "testbed", holder, liveness=liveness_now(store))
        say("mine")
    except StackLeasedError:
        say("taken")
    sys.stdin.readline()
