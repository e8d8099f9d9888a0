"""The log lines that mean something, read from `events/*.yaml`; matches no line itself.

What a line means and what it does not stands in the files, with the source of its wording.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from runner.campaign.config_problems import Problem, raise_problems
from runner.campaign.file_shape import Name, Shape, Text, read_shape
from runner.campaign.yaml_source import YamlSource, read_yaml
from runner.errors import ConfigError
from runner.observe.pattern_literals import SHORTEST, required_literals

# Tags that loggers and exceptions put before a message: `[http_server] Error: `.
LEAD = r"(?:\[[^\]\n]{1,40}\] ?|[A-Za-z_][\w.]{0,80}: ){0,4}"


class EventClass(StrEnum):
    """What an event says of the server, the worst first."""

    WEDGE = "wedge"
    CRASH = "crash"
    CORRUPTION = "corruption"
    ABORT = "abort"
    ERROR = "error"
    PARSER = "parser"
    SLOW = "slow"
    PRESSURE = "pressure"
    BENIGN = "benign"
    INFO = "info"


_EventId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]


class EventShape(Shape):
    """One kind of event. `episode_s`: lines within so many seconds tell of one event.

    `found_by`: fixed texts that stand in such lines of a plain log, where the pattern's own are in
    too many others.
    """

    id: _EventId
    event_class: Annotated[EventClass, Field(strict=False, alias="class")]
    patterns: tuple[Text, ...] = Field(min_length=1)
    means: Text
    does_not_mean: Text
    source: Text
    wedge_sign: bool = False
    episode_s: float | None = Field(default=None, gt=0)
    found_by: tuple[Annotated[str, StringConstraints(min_length=SHORTEST)], ...] = ()


class CatalogueShape(Shape):
    """`quotes`: how records begin that quote users' words, in which no event is looked for."""

    family: Name
    quotes: tuple[Text, ...] = ()
    events: tuple[EventShape, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class EventPattern:
    """One wording of one kind; `literals`: one of them stands in every line that it matches."""

    kind: EventShape
    pattern: re.Pattern[str]
    literals: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class EventCatalogue:
    """`patterns` in the order in which they are tried: the first that fits names the line."""

    patterns: tuple[EventPattern, ...]
    quotes: re.Pattern[str]
    literals: re.Pattern[str]

    def kind(self, event_id: str) -> EventShape:
        """Raises KeyError."""
        for entry in self.patterns:
            if entry.kind.id == event_id:
                return entry.kind
        raise KeyError(event_id)


def load_catalogue(files: Iterable[Path]) -> EventCatalogue:
    """Raises ConfigError with a line `file:line:column: ...` for each problem."""
    shapes = [_read(path) for path in files]
    if not shapes:
        raise ConfigError("there is no event catalogue: the configs folder has no events/*.yaml")
    patterns = tuple(
        EventPattern(
            kind=event,
            pattern=re.compile(LEAD + f"(?:{text})"),
            literals=frozenset(event.found_by) or required_literals(text),
            text=text,
        )
        for shape in shapes
        for event in shape.events
        for text in event.patterns
    )
    quotes = [quote for shape in shapes for quote in shape.quotes]
    wanted = sorted({text for entry in patterns for text in (*entry.literals, *_own(entry))})
    return EventCatalogue(
        patterns=patterns,
        quotes=re.compile(LEAD + f"(?:{'|'.join(quotes)})" if quotes else "(?!)"),
        literals=re.compile("|".join(map(re.escape, wanted))),
    )


def _own(entry: EventPattern) -> frozenset[str]:
    try:
        return required_literals(entry.text)
    except ValueError:
        return frozenset()


def _read(path: Path) -> CatalogueShape:
    source = read_yaml(path)
    shape = read_shape(CatalogueShape, source)
    raise_problems(source.path, _problems(shape, source))
    return shape


def _problems(shape: CatalogueShape, source: YamlSource) -> Iterator[Problem]:
    for number, event in enumerate(shape.events):
        for index, text in enumerate(event.patterns):
            place = source.place_of_value(("events", str(number), "patterns", str(index)))
            try:
                literals = required_literals(text)
                re.compile(LEAD + f"(?:{text})")
            except (ValueError, re.error) as error:
                if not (event.found_by and "fixed characters" in str(error)):
                    yield Problem(place, f"the pattern of {event.id} {error}")
                continue
            if not all(literal.isascii() for literal in literals):
                yield Problem(place, f"the pattern of {event.id} needs fixed text in ASCII")
    for index, quote in enumerate(shape.quotes):
        try:
            re.compile(quote)
        except re.error as error:
            place = source.place_of_value(("quotes", str(index)))
            yield Problem(place, f"is no regular expression: {error}")
