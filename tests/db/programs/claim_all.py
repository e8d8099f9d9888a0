"""Claims requests as the worker named in the second argument until none is left; prints each."""

import sys

from db.launch_queue import claim
from db.store import open_store
from tests.db.programs.starting_line import say, wait_for_the_others

url, worker = sys.argv[1:]
with open_store(url) as store:
    wait_for_the_others()
    while (request := claim(store, worker)) is not None:
        say(request.id)
