"""Opens a store in a folder where an ordinary user may not write; prints the sentence it gets.

Arguments: a store that can be opened, so that all modules are loaded, then the one that cannot.
"""

import os
import sys

from db.errors import StoreError
from db.store import open_store
from tests.db.programs.starting_line import say

NOBODY = 65534

open_store(sys.argv[1]).close()
if os.geteuid() == 0:
    os.setuid(NOBODY)
try:
    open_store(sys.argv[2]).close()
except StoreError as error:
    say(f"{type(error).__name__}: {error}")
