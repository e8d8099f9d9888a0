"""A request inside the engine: what it holds, what it has said, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from runner.testbed import vocabulary as v
from runner.testbed.generation import CachedTokens, FinishReason, GenerationRequest
from runner.testbed.model import NO_TOKEN
from runner.testbed.radix_cache import Lease


class Stage(StrEnum):
    """Where a sequence stands: waits for a decode slot, for prefill, for its pages, or decodes."""

    PREALLOC = "prealloc"
    WAITING = "waiting"
    TRANSFER = "transfer"
    RUNNING = "running"


@dataclass(eq=False, slots=True)
class Sequence:
    """`slot` and `lease` are what it holds on the decode and on the prefill side."""

    request: GenerationRequest
    room: int
    max_new_tokens: int
    stage: Stage = Stage.PREALLOC
    slot: int | None = None
    lease: Lease | None = None
    output: list[int] = field(default_factory=list)
    cached: CachedTokens = field(default_factory=CachedTokens)

    @property
    def n_tokens(self) -> int:
        return len(self.request.tokens) + len(self.output)

    def newest_tokens(self, count: int) -> tuple[int, ...]:
        """The last `count` tokens of prompt and answer, newest first."""
        tail = (*self.request.tokens[-count:], *self.output[-count:])[-count:]
        return tail[::-1] + (NO_TOKEN,) * (count - len(tail))

    def append(self, chosen: int) -> int:
        """Take the model's token, or the forced one of this place."""
        index, forced = len(self.output), self.request.forced
        self.output.append(forced[index] if index < len(forced) else chosen)
        return self.output[-1]

    def finish_reason(self) -> FinishReason | None:
        if self.output[-1] == v.EOS:
            return FinishReason.STOP
        return FinishReason.LENGTH if len(self.output) >= self.max_new_tokens else None
