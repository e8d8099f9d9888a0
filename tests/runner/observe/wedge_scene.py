"""A server that is looked at for wedges, with a clock that the test moves."""

from runner.observe.engine_readings import PageReading
from runner.observe.wedge_rules import WedgeTracker
from runner.observe.wedge_spans import (
    Look,
    OpenRequest,
    PageTimes,
    Suspicion,
    WedgePatience,
    WedgeSpan,
)
from tests.runner.observe.metric_pages import page, sglang

PATIENCE = WedgePatience(quiet_s=20, canary_s=20)


class Scene:
    """A tracker and a clock; every step is two seconds, as in a run."""

    def __init__(self) -> None:
        self.tracker = WedgeTracker(PATIENCE)
        self.at_s = 1000.0
        self.page_took_s = 0.0
        self.progress_s: float | None = self.at_s
        self.sent: dict[str, float] = {}
        self.suspicion: Suspicion | None = None

    def send(self, *names: str) -> None:
        self.sent.update(dict.fromkeys(names, self.at_s))

    def look(self, *texts: str | None) -> Suspicion | None:
        pages: dict[str, PageReading | None] = {
            f"s{number}": None if text is None else page(text) for number, text in enumerate(texts)
        }
        open_requests = tuple(
            OpenRequest(name, self.at_s - sent_s, self.at_s - sent_s)
            for name, sent_s in self.sent.items()
        )
        look = Look(
            at_s=self.at_s,
            pages=pages,
            times=dict.fromkeys(pages, PageTimes(self.at_s - self.page_took_s, self.at_s)),
            open_requests=open_requests,
            progress_s=self.progress_s,
        )
        self.suspicion = self.tracker.look(look) or self.suspicion
        return self.suspicion

    def for_seconds(self, seconds: int, *texts: str | None) -> Suspicion | None:
        for _ in range(seconds // 2):
            self.at_s += 2
            self.look(*texts)
        return self.suspicion

    def confirmed(self) -> WedgeSpan:
        span = self.tracker.canary_unanswered("no answer")
        assert span is not None
        return span


def worker(start: float, tokens: int) -> str:
    """A page of the one that was started at this moment."""
    return sglang(2, tokens) + f"process_start_time_seconds {start}\n"
