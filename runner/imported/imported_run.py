"""What a result file of another tool says of one run, in words of ours; what it does not say is
None.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from db.vocabulary import ErrorReason

FIRST_DATE_S, LAST_DATE_S = 946_684_800, 4_102_444_800
"""2000 and 2100: a number outside of them counts from elsewhere, or in another unit."""


def as_date_s(seconds: float | None) -> float | None:
    """Seconds since the epoch; None where the number cannot be that."""
    is_date = seconds is not None and FIRST_DATE_S <= seconds < LAST_DATE_S
    return seconds if is_date else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRequest:
    """One request. `content`, `reasoning`, `calls`: the answer, None where the file has none.

    Seconds are since the epoch (`started_at_s`) or since the request. `asked` and `response` are
    the bodies, where the file has them; `conversation` names the session that the request is of.
    """

    content: str | None = None
    reasoning: str | None = None
    calls: Sequence[Mapping[str, Any]] | None = None
    error: str | None = None
    reason: ErrorReason | None = None
    http_status: int | None = None
    finish_reason: str | None = None
    started_at_s: float | None = None
    first_token_s: float | None = None
    duration_s: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: Mapping[str, int] = field(default_factory=dict)
    conversation: str | None = None
    turn_index: int = 0
    was_cancelled: bool = False
    asked: Mapping[str, Any] | None = None
    response: bytes | None = None

    @property
    def is_told(self) -> bool:
        """The file has the answer, or says that there was none."""
        return self.error is not None or self.response is not None or self._has_text

    @property
    def _has_text(self) -> bool:
        """Tools that time answers keep no calls: where a model called, their text is empty."""
        return bool(self.content or self.reasoning or self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """`figures` are the tool's own summary, by its own names; `settings` what it was run with."""

    tool: str
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    requests: Sequence[ImportedRequest] = ()
    requests_made: int | None = None
    requests_failed: int | None = None
    duration_s: float | None = None
    started_at_s: float | None = None
    concurrency: int | None = None
    counts: Mapping[str, int] | None = None
    """Sessions by outcome, where the file has only these."""
    wedge_lines: int | None = None
    wedge_requests: int | None = None
    peak_running: float | None = None


def peak_in_flight(requests: Sequence[ImportedRequest]) -> int | None:
    """Most requests that were open at once; None where not every one tells when it was."""
    moments: list[tuple[float, int]] = []
    for each in requests:
        if each.started_at_s is None or each.duration_s is None:
            return None
        moments += [(each.started_at_s, 1), (each.started_at_s + each.duration_s, -1)]
    if not moments:
        return None
    open_now = peak = 0
    for _, change in sorted(moments):
        open_now += change
        peak = max(peak, open_now)
    return peak
