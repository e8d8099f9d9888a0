"""In which pieces the sessions of many runs are looked through, so that a search can stop."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement

from db.reads.relations import SESSION
from db.reads.run_scopes import RunScope


@dataclass(frozen=True, slots=True)
class SearchPiece:
    """Some runs, or the session indexes of one run from `from_index` on, up to `before_index`."""

    run_ids: Sequence[int]
    sessions: int
    from_index: int = 0
    before_index: int | None = None

    @property
    def condition(self) -> ColumnElement[bool]:
        index = SESSION.c.session_index
        condition = SESSION.c.run_id.in_(self.run_ids) & (index >= self.from_index)
        return condition if self.before_index is None else condition & (index < self.before_index)


def search_pieces(scopes: Iterable[RunScope], *, at_most: int) -> Iterator[SearchPiece]:
    """Pieces of at most so many sessions: small runs together, large ones in spans of indexes."""
    together: list[int] = []
    sessions = 0
    for scope in scopes:
        size = scope.sessions
        if together and sessions + size > at_most:
            yield SearchPiece(together, sessions)
            together, sessions = [], 0
        if size > at_most:
            yield from _spans(scope.run_id, size, at_most)
        else:
            together.append(scope.run_id)
            sessions += size
    if together:
        yield SearchPiece(together, sessions)


def _spans(run_id: int, size: int, at_most: int) -> Iterator[SearchPiece]:
    """Indexes have gaps while a run is driven: the last span takes all that are left."""
    for first in range(0, size, at_most):
        behind = first + at_most
        end = behind if behind < size else None
        yield SearchPiece([run_id], min(at_most, size - first), first, end)
