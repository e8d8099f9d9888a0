"""What the wedge rules take in and give out: looks, suspicions, spans. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from runner.observe.engine_readings import PageReading

LONGEST_PAUSE_LIMIT_S = 60.0
_SHARE_OF_DEADLINE = 0.7


@dataclass(frozen=True, slots=True)
class WedgePatience:
    """How long nothing may move before a canary is sent, and how long the canary may take.

    Together they are the longest pause that counts as legitimate.
    """

    quiet_s: float
    canary_s: float

    @property
    def longest_pause_s(self) -> float:
        return self.quiet_s + self.canary_s

    @classmethod
    def of(cls, *, shortest_deadline_s: float, chosen_s: float | None = None) -> "WedgePatience":
        """Short enough that sessions still wait when it is over, for a wedge needs victims."""
        pause_s = chosen_s or min(LONGEST_PAUSE_LIMIT_S, _SHARE_OF_DEADLINE * shortest_deadline_s)
        return cls(quiet_s=pause_s / 2, canary_s=pause_s / 2)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request of ours without its end. `quiet_s`: since its last token, or since it was sent."""

    request_id: str
    waiting_s: float
    quiet_s: float


@dataclass(frozen=True, slots=True)
class Silence:
    """A stretch of one answer of ours, over by now, in which no byte came."""

    request_id: str
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class PageTimes:
    """When a page was asked for and when it had come; it shows a moment between the two."""

    asked_s: float
    read_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is seen at one moment. `progress_s`: when any answer of ours last made progress.

    `pages`: service -> its metrics; None where they could not be read, which says nothing.
    `times`: service -> those of its page, which are before the look where that had to wait.
    """

    at_s: float
    pages: Mapping[str, PageReading | None] = field(default_factory=dict)
    times: Mapping[str, PageTimes] = field(default_factory=dict)
    open_requests: tuple[OpenRequest, ...] = ()
    progress_s: float | None = None


class WedgeRule(StrEnum):
    """By which evidence a stack stands still."""

    ENGINE = "engine"  # an engine holds requests and its counters do not move
    CLIENT = "client"  # our requests wait and nothing moves at all
    ADMISSION = "admission"  # transfers hang while requests pile up behind them


EngineKey: TypeAlias = tuple[str, str]  # service, engine


@dataclass(frozen=True, slots=True)
class Suspicion:
    rule: WedgeRule
    engines: frozenset[EngineKey]
    started_s: float


@dataclass(slots=True)
class WedgeSpan:
    """A confirmed wedge; `ended_s` is None while it lasts."""

    rule: WedgeRule
    engines: frozenset[EngineKey]
    where: tuple[str, ...]
    started_s: float
    confirmed_s: float
    confirmed_by: str
    ended_s: float | None = None
    end: str | None = None
    victims: dict[str, float] = field(default_factory=dict)  # request -> longest silence in s

    def seconds(self, until_s: float) -> float:
        return (self.ended_s if self.ended_s is not None else until_s) - self.started_s
