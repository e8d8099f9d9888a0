"""What is wrong in a configuration file, and where: one sentence a problem, all at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from runner.errors import ConfigError

MAX_SHOWN = 20


class Place(NamedTuple):
    """Line and column, both counted from 1 as editors do."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """`found` is what stands there and `allowed` what may, both as the file writes them."""

    place: Place
    what: str
    found: str | None = None
    allowed: Sequence[str] = ()

    def sentence(self, path: str) -> str:
        """`file:line:column: what is wrong; found X; allowed: a, b, c; did you mean b?`"""
        parts = [f"{path}:{self.place.line}:{self.place.column}: {self.what}"]
        if self.found is not None:
            parts.append(f"found {self.found}")
        if self.allowed:
            parts.append(f"allowed: {_listed(self.allowed)}")
        similar = get_close_matches(self.found or "", self.allowed, n=1)
        if similar:
            parts.append(f"did you mean {similar[0]}?")
        return _on_one_line("; ".join(parts))


def raise_problems(path: str, problems: Iterable[Problem]) -> None:
    """Raises ConfigError with a line for each problem in the order of the file; none, no error."""
    ordered = sorted(problems, key=lambda problem: problem.place)
    sentences = list(dict.fromkeys(problem.sentence(path) for problem in ordered))
    hidden = len(sentences) - MAX_SHOWN
    if hidden > 0:
        sentences[MAX_SHOWN:] = [f"{path}: and {hidden} more problems"]
    if sentences:
        raise ConfigError("\n".join(sentences))


def shown(value: object) -> str:
    """A value of a file as it is quoted in a problem: short, on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, tuple | list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    text = text if text.isprintable() and text.strip() else repr(text)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _on_one_line(text: str) -> str:
    """A key of a file may hold line breaks, and worse."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(shown(word) for word in words)
