"""Opens the store at the address given, together with others, and prints its schema version."""

import sys

from db.store import open_store
from tests.db.programs.starting_line import say, wait_for_the_others

wait_for_the_others()
with open_store(sys.argv[1]) as store:
    say(store.schema_version())
