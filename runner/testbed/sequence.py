"""One request as the prefill side and as the decode side keep it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from runner.testbed import vocabulary as v
from runner.testbed.generation import CachedTokens, FinishReason, GenerationRequest
from runner.testbed.model import NO_TOKEN
from runner.testbed.page_link import DecodePeer, PrefillPeer
from runner.testbed.page_messages import PagesGranted
from runner.testbed.radix_cache import Lease


class PrefillStage(StrEnum):
    """Waits for decode's pages; for its turn; or for its pages to be written there."""

    BOOTSTRAP = "bootstrap"
    WAITING = "waiting"
    INFLIGHT = "inflight"


@dataclass(eq=False, slots=True)
class PrefillSequence:
    """`grant` and `peer` say where its pages go, `lease` what it holds of the prefill pool.

    `failure`: why it ended badly; `was_told`: decode knows, for it said so itself.
    """

    request: GenerationRequest
    room: int
    submitted_s: float
    stage: PrefillStage = PrefillStage.BOOTSTRAP
    grant: PagesGranted | None = None
    peer: DecodePeer | None = None
    lease: Lease | None = None
    token: int = v.PAD
    computed_s: float = 0.0
    failure: str | None = None
    was_told: bool = False
    cached: CachedTokens = field(default_factory=CachedTokens)


class DecodeStage(StrEnum):
    """Waits for a slot; for its pages to arrive; or decodes."""

    PREALLOC = "prealloc"
    TRANSFER = "transfer"
    RUNNING = "running"


@dataclass(eq=False, slots=True)
class DecodeSequence:
    """`slot` is what it holds of the decode pool, `peer` the prefill instance it waits for.

    For the audit: `index_sums` as prefill sent them, and which of the prompt's pages came so.
    """

    request: GenerationRequest
    room: int
    max_new_tokens: int
    peer: PrefillPeer
    stage: DecodeStage = DecodeStage.PREALLOC
    slot: int | None = None
    submitted_s: float = 0.0
    granted_s: float = 0.0
    output: list[int] = field(default_factory=list)
    cached: CachedTokens = field(default_factory=CachedTokens)
    index_sums: tuple[int, ...] = ()
    intact_pages: tuple[int, ...] = ()

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
