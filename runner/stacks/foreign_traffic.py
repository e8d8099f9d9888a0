"""Whether a server answered requests during a run that were not ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.campaign.stack_shape import MetricRole
from runner.observe.engine_readings import PageReading


@dataclass(frozen=True, slots=True)
class CountedRequests:
    """Requests that one service counted while a run was driven, and those that we had sent.

    With several services each sees all requests or a share of them: none may see more.
    """

    service: str
    counted: float
    sent: int

    @property
    def has_foreign(self) -> bool:
        return self.counted > self.sent

    def sentence(self) -> str:
        return (
            f"{self.service} counted {self.counted:g} requests and we sent {self.sent}: "
            "somebody else uses it"
        )

    def to_json(self) -> dict[str, Any]:
        return {"service": self.service, "counted": self.counted, "sent": self.sent}


def counted_requests(
    before: Mapping[str, PageReading | None],
    after: Mapping[str, PageReading | None],
    *,
    sent: int,
) -> tuple[CountedRequests, ...]:
    """Of the services whose metrics count requests; a counter that fell counts from zero."""
    counts: list[CountedRequests] = []
    for service, page in after.items():
        end = page.totals().get(MetricRole.REQUESTS) if page is not None else None
        if end is None:
            continue
        earlier = before.get(service)
        start = (earlier.totals().get(MetricRole.REQUESTS) if earlier is not None else None) or 0.0
        counts.append(CountedRequests(service, end - start if end >= start else end, sent))
    return tuple(counts)
