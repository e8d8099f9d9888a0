"""Reads a filter as people write it: `outcome:leak c:>=60 -flag:echo_mismatch "tool_calls"`; pure.

    filter = term (space term)*
    term   = ["-" | "!"] (key ":" value ("," value)* | words)
    value  = words, a number with or without >= <= > <, or an id
    words  = anything without spaces, or in quotation marks with \\" and \\\\ inside

All terms must hold. Of several values of one term any may; a negated term forbids each of them.
Words without a key are looked for in what was written.
"""

from collections.abc import Mapping
from difflib import get_close_matches

from db.errors import FilterError
from db.filters.keys import Key, UnfitValueError
from db.filters.terms import TEXT, Bound, Filter, Term

MAX_CHARACTERS = 1000
_NEGATIONS = "-!"


def parse_filter(text: str, keys: Mapping[str, Key]) -> Filter:
    """The filter that `text` says. Raises FilterError: one sentence with the place of the fault."""
    if len(text) > MAX_CHARACTERS:
        raise FilterError(f"the filter is longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS)
    if "\0" in text:
        place = text.index("\0")
        raise FilterError(f"there is a NUL at character {place + 1}: take it out", place)
    reader = _Reader(text, keys)
    terms: list[Term] = []
    while reader.skip_spaces():
        terms.append(reader.term())
    return Filter(tuple(dict.fromkeys(terms)))


class _Reader:
    """A place in the text that moves forward."""

    def __init__(self, text: str, keys: Mapping[str, Key]) -> None:
        self._text = text
        self._keys = keys
        self._at = 0

    def skip_spaces(self) -> bool:
        """Whether anything follows."""
        while self._next().isspace():
            self._at += 1
        return bool(self._next())

    def term(self) -> Term:
        is_negated = self._next() in _NEGATIONS
        if is_negated:
            sign_at = self._at
            self._at += 1
            if not self._next() or self._next().isspace():
                raise self._fault(f"{self._text[sign_at]} stands alone: what is excluded?", sign_at)
        if self._next() == '"':
            return self._words(self._quoted(), is_negated)
        start = self._at
        word = self._plain(until=":")
        if self._next() != ":":
            return self._words(word, is_negated)
        key = self._key(word, start)
        self._at += 1
        return Term(key.name, self._values(key), is_negated)

    def _words(self, words: str, is_negated: bool) -> Term:
        if not words:
            raise self._fault("the words to look for are empty", self._at)
        return Term(TEXT, (words,), is_negated)

    def _key(self, word: str, start: int) -> Key:
        found = self._keys.get(word.lower())
        if found is not None:
            return found
        near = get_close_matches(word.lower(), self._keys, n=1)
        known = f"did you mean {near[0]}:" if near else f"known are {', '.join(self._keys)}"
        told = f'there is no key {word!r} ({known}); words with a colon go in "quotation marks"'
        raise self._fault(told, start)

    def _values(self, key: Key) -> tuple[str | Bound, ...]:
        values = [self._value(key)]
        while self._next() == ",":
            self._at += 1
            values.append(self._value(key))
        return tuple(dict.fromkeys(values))

    def _value(self, key: Key) -> str | Bound:
        start = self._at
        text = self._quoted() if self._next() == '"' else self._plain(until=",")
        try:
            return key.read(text)
        except UnfitValueError as error:
            raise self._fault(str(error), start) from None

    def _plain(self, *, until: str) -> str:
        start = self._at
        while self._next() and not self._next().isspace() and self._next() not in f'{until}"':
            self._at += 1
        if self._at > start and self._next() == '"':
            raise self._fault("a space is missing before the quotation mark", self._at)
        return self._text[start : self._at]

    def _quoted(self) -> str:
        start = self._at
        self._at += 1
        kept: list[str] = []
        while (character := self._next()) != '"':
            if character == "\\" and self._text[self._at + 1 : self._at + 2] in ('"', "\\"):
                self._at += 1
                character = self._next()
            if not character:
                raise self._fault("the quotation mark is not closed", start)
            kept.append(character)
            self._at += 1
        self._at += 1
        if self._next() and not self._next().isspace() and self._next() != ",":
            raise self._fault("a space is missing after the quotation mark", self._at)
        return "".join(kept)

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _fault(self, what: str, place: int) -> FilterError:
        return FilterError(f"the filter cannot be read at character {place + 1}: {what}", place)
