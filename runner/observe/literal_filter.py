"""Finds in large texts the few lines that hold one of many fixed texts, at the speed of memory.

Every fourth group of four bytes is looked up in a table: a text of seven bytes or more holds, for
any place where it may stand, one whole group. What hits the table is compared in full.
"""

from collections import Counter, defaultdict
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
        by_group: defaultdict[int, list[bytes]] = defaultdict(list)
        for text in self._texts:
            window = _rarest_window(text, seen)
            for at in range(_GROUP):
                by_group[int.from_bytes(window[at : at + _GROUP], "little")].append(text)
        self._by_group = dict(by_group)
        self._values = np.array(sorted(by_group), dtype=np.uint32)
        self._table = np.zeros(1 << _BITS, dtype=np.bool_)
        self._table[_hashes(self._values)] = True

    def lines_in(self, content: bytes, ends: npt.NDArray[np.int64]) -> list[int]:
        """The lines that hold one of the texts, ascending. `ends` are the places of newlines."""
        found: list[int] = []
        offsets = self._offsets(content)
        for offset, line in zip(
            offsets.tolist(), np.searchsorted(ends, offsets).tolist(), strict=True
        ):
            if line < len(ends) and (not found or found[-1] != line):
                start = int(ends[line - 1]) + 1 if line else 0
                group = int.from_bytes(content[offset : offset + _GROUP], "little")
                if any(
                    content.find(text, start, int(ends[line])) >= 0
                    for text in self._by_group[group]
                ):
                    found.append(line)
        return found

    def _offsets(self, content: bytes) -> npt.NDArray[np.int64]:
        """Where one of the groups stands at an aligned place, ascending."""
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
