"""Free page numbers of a pool, given out first in, first out."""

from __future__ import annotations

from collections import deque


class FreePages:
    """First in, first out: a page rests as long as possible before it gets another owner."""

    def __init__(self, n_pages: int) -> None:
        self.total = n_pages
        self._free = deque(range(n_pages))
        self._owners_so_far = [0] * n_pages

    def __len__(self) -> int:
        return len(self._free)

    def take(self) -> int:
        """Raises IndexError when none is free."""
        page = self._free.popleft()
        self._owners_so_far[page] += 1
        return page

    def tenure(self, page: int) -> int:
        """A number that changes when the page gets another owner."""
        return self._owners_so_far[page]

    def give_back(self, page: int) -> None:
        self._free.append(page)

    def snapshot(self) -> tuple[int, ...]:
        return tuple(self._free)
