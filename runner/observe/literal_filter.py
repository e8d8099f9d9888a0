"""Finds in large texts the few lines that hold one of many fixed texts, at the speed of memory.

Every fourth group of four bytes is looked up in a table: a text of seven bytes or more holds, for
any place where it may stand, one whole group. What hits the table is compared in full.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

_GROUP = 4
_WINDOW = 7  # holds one aligned group wherever it begins
_BITS = 18
_FACTOR = 2_654_435_761  # Knuth's multiplicative hash
_SLICE_BYTES = 1 << 18  # fits the second-level cache together with its hashes


class LiteralFilter:
    """Built for a set of ASCII texts of seven bytes or more, and a sample of what will be read.

    The sample decides which seven bytes of each text are looked for: those that are rare in it.
    """

    def __init__(self, texts: Iterable[str], *, sample: bytes = b"") -> None:
        self._texts = sorted({text.encode("ascii") for text in texts})
        seen = _group_counts(sample)
        windows = [_rarest_window(text, seen) for text in self._texts]
        groups = sorted({window[at : at + _GROUP] for window in windows for at in range(_GROUP)})
        self._table = np.zeros(1 << _BITS, dtype=np.bool_)
        values = np.frombuffer(b"".join(groups), dtype="<u4")
        self._table[_hashes(values)] = True
        self._values = np.sort(values)

    def candidate_offsets(self, content: bytes) -> npt.NDArray[np.int64]:
        """Where a line may hold one of the texts; offsets of groups, ascending."""
        found: list[npt.NDArray[np.int64]] = []
        for start in range(0, len(content) - _GROUP + 1, _SLICE_BYTES):
            count = min(_SLICE_BYTES, len(content) - start) // _GROUP
            values = np.frombuffer(content, dtype="<u4", count=count, offset=start)
            hits = np.flatnonzero(self._table[_hashes(values)])
            if len(hits):
                places = np.searchsorted(self._values, values[hits])
                places[places == len(self._values)] = 0
                hits = hits[self._values[places] == values[hits]]
                found.append(hits.astype(np.int64) * _GROUP + start)
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def is_in(self, line: bytes) -> bool:
        return any(text in line for text in self._texts)


def _hashes(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return (values * np.uint32(_FACTOR)) >> np.uint32(32 - _BITS)


def _group_counts(sample: bytes) -> Counter[int]:
    """How often each group of four bytes stands at an aligned place of the sample."""
    values = np.frombuffer(sample, dtype="<u4", count=len(sample) // _GROUP)
    groups, counts = np.unique(values, return_counts=True)
    return Counter(dict(zip(groups.tolist(), counts.tolist(), strict=True)))


def _rarest_window(text: bytes, seen: Counter[int]) -> bytes:
    def frequency(start: int) -> int:
        return sum(
            seen[int.from_bytes(text[start + at : start + at + _GROUP], "little")]
            for at in range(_GROUP)
        )

    return min(
        (text[start : start + _WINDOW] for start in range(len(text) - _WINDOW + 1)),
        key=lambda window: frequency(text.index(window)),
    )
