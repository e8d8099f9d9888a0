"""Why a request failed, as far as another tool's words tell; pure."""

import re
from http import HTTPStatus

from db.vocabulary import ErrorReason

_BY_WORDS = (
    (r"timed? ?out|timeout", ErrorReason.SESSION_TIMEOUT),
    (r"cannot connect|connection ?refused|connect(ion)? ?error", ErrorReason.CONNECT),
    (r"incomplete|payload|disconnected|reset by peer|closed", ErrorReason.TRUNCATED),
    (r"abort", ErrorReason.ABORTED_BY_SERVER),
)


def error_reason(words: str, http_status: int | None = None) -> ErrorReason:
    """By the status where there is one, else by the words, which may begin with the phrase of a
    status (`Bad Request: ...`, as the benches write it); unreadable where neither tells.
    """
    http_status = http_status or _named_status(words)
    if http_status is not None and 400 <= http_status < 500 and http_status not in (408, 499):
        return ErrorReason.HTTP_4XX
    if http_status is not None and http_status >= 500:
        return ErrorReason.HTTP_5XX
    for pattern, reason in _BY_WORDS:
        if re.search(pattern, words, re.IGNORECASE):
            return reason
    return ErrorReason.UNREADABLE


def _named_status(words: str) -> int | None:
    phrase = words.partition(":")[0].strip().lower()
    return next((int(each) for each in HTTPStatus if each.phrase.lower() == phrase), None)
