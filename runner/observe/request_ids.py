"""Which session a request of ours belongs to, by the id that it was sent under."""

import re

_SESSION = re.compile(r"-s(\d+)-t\d+$")


def session_index_of(request_id: str) -> int | None:
    """`r7-s12-t3` is the fourth turn of session 12; None for a canary or another's request."""
    found = _SESSION.search(request_id)
    return int(found[1]) if found is not None else None
