"""Keys that must be found nowhere: takes them out of all that is recorded, shown or told.

A secret is replaced by as many asterisks, so that sizes and offsets of what is recorded stay true.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from runner.errors import UsageError

_SECRET_NAME = re.compile(r"(key|token|secret|password|passwd|credentials?|auth)$", re.IGNORECASE)
_PROXY_NAME = re.compile(r"proxy", re.IGNORECASE)
_PASSWORD = re.compile(r"//[^/@:]*:([^/@]+)@")
_SHORTEST = 4  # anything shorter stands in ordinary text, and would tear it


class Secrets:
    """Values, each also as a URL has it. Its own text shows none of them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = {value for value in values if len(value) >= _SHORTEST}
        known |= {quote(value, safe="") for value in known}
        self._values = tuple(
            value.encode() for value in sorted(known, key=lambda value: (-len(value), value))
        )

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def __bool__(self) -> bool:
        return bool(self._values)

    @property
    def longest_bytes(self) -> int:
        return max(map(len, self._values), default=0)

    def hidden(self, content: bytes) -> bytes:
        for value in self._values:
            if value in content:
                content = content.replace(value, b"*" * len(value))
        return content

    def hidden_text(self, text: str) -> str:
        return self.hidden(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def hidden_in(self, value: Any) -> Any:
        """A JSON value with the secrets taken out of its texts."""
        if isinstance(value, str):
            return self.hidden_text(value)
        if isinstance(value, Mapping):
            return {self.hidden_text(str(key)): self.hidden_in(own) for key, own in value.items()}
        if isinstance(value, list | tuple):
            return [self.hidden_in(own) for own in value]
        return value

    def held_back(self, content: bytes) -> int:
        """How many bytes at the end may be the beginning of a secret."""
        for size in range(min(self.longest_bytes - 1, len(content)), 0, -1):
            end = content[-size:]
            if any(len(value) > size and value.startswith(end) for value in self._values):
                return size
        return 0


class HidingStream:
    """Takes secrets out of bytes that come in pieces, wherever a piece ends."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        content = self._secrets.hidden(self._held + piece)
        kept = self._secrets.held_back(content)
        self._held = content[len(content) - kept :]
        return content[: len(content) - kept]

    def rest(self) -> bytes:
        held, self._held = self._held, b""
        return held


def likely_secrets(environment: Mapping[str, str]) -> Secrets:
    """The values of all variables whose names say that they hold a secret, for texts of which
    nobody knows what was quoted in them; of a proxy's URL only the password.
    """
    named = [value.strip() for name, value in environment.items() if _SECRET_NAME.search(name)]
    urls = [value for name, value in environment.items() if _PROXY_NAME.search(name)]
    passwords = [found[1] for url in urls if (found := _PASSWORD.search(url))]
    return Secrets(value for value in [*named, *passwords] if value.isascii())


def secret_named(name: str, environment: Mapping[str, str], *, what: str) -> str:
    """The value of an environment variable that holds a secret, without blanks around it.

    Raises UsageError that names the variable, never the value.
    """
    value = environment.get(name, "").strip()
    if not value:
        raise UsageError(f"the environment has no {name}, which holds {what}: set it")
    if not value.isascii() or not value.isprintable():
        raise UsageError(f"the variable {name} holds what no header can carry: look for line ends")
    return value
