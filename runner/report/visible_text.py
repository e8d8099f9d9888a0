"""Text of others made fit to be shown: what cannot be seen, or would turn a line around, is named.

It stands before every form that a report takes, so that none of them meets a character that its
format forbids.
"""

import json
import re

# C0 and C1 controls but line feed and tab; DEL; soft hyphen; zero-width and bidirectional marks and
# isolates; line and paragraph separators; interlinear anchors; byte-order mark; lone surrogates,
# which no encoding takes; the non-characters that XML forbids.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile("\r\n?")


def visible(text: str) -> str:
    """`text` with each unseen character as its code point: `\\u202e` for a right-to-left override.

    A carriage return ends a line, alone or before a line feed.
    """
    return _UNSEEN.sub(_code_point, _LINE_ENDS.sub("\n", text))


def visible_json(document: str) -> str:
    """A JSON document that says the same, with each unseen character of its texts escaped."""
    return _UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], document)


def one_line(text: str) -> str:
    """As `visible`, on a single line, with single spaces."""
    return " ".join(visible(text).split())


def _code_point(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
