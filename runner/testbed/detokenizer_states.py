"""The detokenizer states of all open answers, in a table that holds so many and no more.

When it is full the oldest state is forgotten, as in SGLang's table of the same kind. There the
answer fails; here it goes on with a state that has seen nothing, so that what depends on the token
before (the blank, the underscore of a name, the closing form of a mark) comes out wrong. Too small
a table is a fault that only several answers at a time can show.
"""

from __future__ import annotations

from collections import OrderedDict

from runner.testbed.detokenizer import Detokenizer
from runner.testbed.vocabulary import Vocabulary


class DetokenizerStates:
    def __init__(self, vocabulary: Vocabulary, max_states: int) -> None:
        self._vocabulary = vocabulary
        self._max_states = max_states
        self._states: OrderedDict[str, Detokenizer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    def piece(self, rid: str, token: int) -> str:
        """The text that this token adds to the answer."""
        state = self._states.get(rid)
        if state is None:
            while len(self._states) >= self._max_states:
                self._states.popitem(last=False)
            state = self._states[rid] = Detokenizer(self._vocabulary)
        return state.piece(token)

    def drop(self, rid: str) -> None:
        """The answer is over."""
        self._states.pop(rid, None)
