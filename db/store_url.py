"""How the address of a store is read. It opens nothing, and imports what reads it when one is."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from db.errors import StoreUrlError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

DEFAULT_STORE_URL = "sqlite:///decisive.db"

_FORMS = "write sqlite:///decisive.db, sqlite:////absolute/path.db or postgresql://user@host/name"


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A parsed address; `path` is absolute, and None where the store is a server."""

    url: "URL"
    path: Path | None

    def __str__(self) -> str:
        """The address without its password."""
        return self.url.render_as_string(hide_password=True)

    @property
    def where(self) -> str:
        """What an error message calls the store."""
        return str(self.path) if self.path is not None else str(self)


def parse_store_url(text: str) -> StoreUrl:
    """The parsed address; relative paths are taken from the working directory.

    Raises StoreUrlError.
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
        dialect = url.get_backend_name()
    except (ArgumentError, ValueError) as error:
        raise StoreUrlError(f"{text!r} is not the address of a store: {_FORMS}.") from error
    if dialect == "postgresql":
        return StoreUrl(url=url, path=None)
    if dialect != "sqlite":
        raise StoreUrlError(f"A store cannot live in {dialect!r}: {_FORMS}.")
    return StoreUrl(url=url, path=_sqlite_path(url, text))


def _sqlite_path(url: "URL", text: str) -> Path:
    if url.host or url.query:
        raise StoreUrlError(f"{text!r} has parts that a SQLite store does not take: {_FORMS}.")
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise StoreUrlError(f"{text!r} names no file, and a store is shared as a file: {_FORMS}.")
    return Path(url.database).absolute()
