"""Cuts text into the tiny model's tokens; no text fails, words it does not know become fillers.

It knows text only: which message goes where in a prompt is the chat template's matter.
"""

from __future__ import annotations

import re
import zlib

from runner.testbed import vocabulary as v

_WORD = re.compile(r"[A-Za-z]+")


class Tokenizer:
    """Longest symbol first, then whole words; white space between words carries nothing.

    `encode` reads plain text, in which markup has no power; `encode_markup` also reads
    `<｜DSML｜` and its kin, for what the assistant itself said.
    """

    def __init__(self, vocabulary: v.Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._word_ids: dict[str, int] = {
            vocabulary.pieces[token]: token
            for token in [*vocabulary.filler_ids, *vocabulary.content_ids]
        }
        symbols = {vocabulary.pieces[token]: token for token in range(vocabulary.filler_ids.start)}
        self._markup_ids = symbols
        self._plain_ids = {
            piece: token for piece, token in symbols.items() if not _is_markup(token)
        }
        self._closing_ids = {piece: token for token, piece in vocabulary.closing.items()}
        self._markup = _scanner(symbols, closing=self._closing_ids)
        self._plain = _scanner(self._plain_ids, closing={})

    def encode(self, text: str) -> list[int]:
        return self._scan(self._plain, self._plain_ids, text)

    def encode_markup(self, text: str) -> list[int]:
        return self._scan(self._markup, self._markup_ids, text)

    def encode_words(self, text: str) -> list[int]:
        """Only the words of `text`; everything between them is dropped."""
        return [self.word_id(word) for word in _WORD.findall(text)]

    def word_id(self, word: str) -> int:
        """The token of a word, or the filler that its hash picks (the same in every process)."""
        known = self._word_ids.get(word.lower())
        if known is not None:
            return known
        fillers = self.vocabulary.filler_ids
        return fillers.start + zlib.crc32(word.lower().encode("utf-8", "surrogatepass")) % len(
            fillers
        )

    def last_content_word(self, text: str) -> int | None:
        """The last content word of `text`, if it has one."""
        content = self.vocabulary.content_ids
        found = [token for token in self.encode_words(text) if token in content]
        return found[-1] if found else None

    def _scan(self, scanner: re.Pattern[str], symbols: dict[str, int], text: str) -> list[int]:
        tokens: list[int] = []
        for match in scanner.finditer(text):
            kind, piece = match.lastgroup, match.group()
            if kind == "closing":
                stem = piece.removeprefix(self.vocabulary.pieces[v.MARK_CLOSE])
                tokens += [v.MARK_CLOSE, self._closing_ids[stem]]
            elif kind == "symbol":
                tokens.append(symbols[piece])
            elif kind == "word":
                tokens.append(self.word_id(piece))
        return tokens


def _is_markup(token: int) -> bool:
    return not v.PLEASE <= token <= v.FULL_STOP


def _scanner(symbols: dict[str, int], *, closing: dict[str, int]) -> re.Pattern[str]:
    """A pattern that matches everywhere: a closing tag, a symbol, a word, or a gap."""
    parts = [
        f"(?P<symbol>{_longest_first(symbols)})",
        r"(?P<word>[A-Za-z]+|\d+|[^A-Za-z\s_])",
        r"[\s_]",
    ]
    if closing:
        parts.insert(0, f"(?P<closing></｜DSML｜(?:{_longest_first(closing)}))")
    return re.compile("|".join(parts))


def _longest_first(pieces: dict[str, int]) -> str:
    return "|".join(re.escape(piece) for piece in sorted(pieces, key=len, reverse=True))
