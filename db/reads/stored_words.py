"""Looking for words in what is stored as text or as JSON.

Letters a to z match in either case. JSON is stored in ASCII with escapes, and a call's arguments
are JSON inside JSON, so the words are looked for as both would write them.
"""

import json

from sqlalchemy import Column, ColumnElement, Text, cast, or_


def text_has(column: Column[str], words: str) -> ColumnElement[bool]:
    return column.icontains(words, autoescape=True)


def json_has(column: Column[object], words: str) -> ColumnElement[bool]:
    once = json.dumps(words)[1:-1]
    twice = json.dumps(once)[1:-1]
    stored = cast(column, Text)
    return or_(*(stored.icontains(form, autoescape=True) for form in dict.fromkeys((once, twice))))


def json_lists(column: Column[object], word: str) -> ColumnElement[bool]:
    """The list of words that is stored in `column` has this one."""
    return cast(column, Text).contains(json.dumps(word), autoescape=True)
