"""Prints tokens as text, one at a time, as a stream needs it.

It knows spacing and the closing forms; it does not know what a valid call looks like.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner.testbed import vocabulary as v


class Detokenizer:
    """State of one stream: the pieces returned by `piece` join to the text.

    Two words in a row are separated by a blank, inside a name by an underscore, since names are
    `word_word`. After `</｜DSML｜` the word of a dialect prints its closing form (`tool_calls>`).
    """

    def __init__(self, vocabulary: v.Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._last = v.BOS
        self._in_name = False

    def piece(self, token: int) -> str:
        """The text that this token adds."""
        last, self._last = self._last, token
        if last == v.MARK_CLOSE and token in self._vocabulary.closing:
            return self._vocabulary.closing[token]
        text = self._vocabulary.pieces[token]
        if not self._vocabulary.is_word(token):
            self._in_name = token in v.INVOKE_IDS or token in v.PARAMETER_IDS
            return text
        if self._vocabulary.is_word(last):
            return ("_" if self._in_name else " ") + text
        return text


def decode(vocabulary: v.Vocabulary, tokens: Iterable[int]) -> str:
    """The whole text of `tokens`."""
    detokenizer = Detokenizer(vocabulary)
    return "".join(detokenizer.piece(token) for token in tokens)
