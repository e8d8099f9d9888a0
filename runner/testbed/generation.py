"""What goes into the engine and what comes out of it, one request at a time.

Plain values: no tensors, no HTTP.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FinishReason(StrEnum):
    """Why a generation ended; `abort` comes with a message."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """`forced` are the first tokens of the answer, given instead of chosen (tool_choice).

    `room` is the number under which prefill and decode know it, if it has one already.
    """

    rid: str
    tokens: tuple[int, ...]
    max_new_tokens: int
    forced: tuple[int, ...] = ()
    stream: bool = True
    room: int | None = None


@dataclass(frozen=True, slots=True)
class CachedTokens:
    """How many prompt tokens came from which cache."""

    device: int = 0
    host: int = 0

    @property
    def total(self) -> int:
        return self.device + self.host


@dataclass(frozen=True, slots=True)
class GenerationEvent:
    """One step of one request: a token, the end, or both (the last token of a cut answer)."""

    rid: str
    token: int | None = None
    finish: FinishReason | None = None
    cached: CachedTokens = CachedTokens()
    error: str | None = None
