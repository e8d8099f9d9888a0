"""What a person may write as the address of a server, and what is made of it."""

from urllib.parse import SplitResult, urlsplit

from runner.errors import UsageError

_EXAMPLE = "write http://HOST:PORT"


def base_url_of(address: str) -> str:
    """Scheme and host in small letters, without a last slash and without `/v1`.

    Raises UsageError; no sentence repeats what may be a password.
    """
    if not address.isprintable() or " " in address:
        raise UsageError(f"{address!r} is no address of a server: {_EXAMPLE}")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{_shown(address)} is no address of a server: {error}") from error
    _refuse(parts, _shown(address))
    host = parts.hostname or ""
    place = f"[{host}]" if ":" in host else host
    if port is not None:
        place = f"{place}:{port}"
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme}://{place}{path}"


def _refuse(parts: SplitResult, shown: str) -> None:
    if "@" in parts.netloc:
        raise UsageError(
            "the address holds a user name or a password, which would be kept with the run: "
            "leave them out"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{shown} is no address of a server: {_EXAMPLE}")
    if parts.query or parts.fragment:
        raise UsageError(
            f"{shown} has a query or a fragment: requests are sent below the address, so {_EXAMPLE}"
        )


def _shown(address: str) -> str:
    """Without whatever stands before the last @."""
    return repr(address.rpartition("@")[2])
