"""Finds spans in which a stack holds requests and makes no token; decides, and asks nobody.

Pure: looks at metrics and at the client's own open requests go in, suspicions and spans come out.
Staleness alone is a suspicion; a canary request that gets no answer confirms it. Health pages and
gauges that do not move are no evidence.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from runner.campaign.stack_shape import MetricRole
from runner.observe.engine_readings import EngineReading, PageReading, short_engine_name
from runner.observe.scrape_verdict import (
    admission_stands_still,
    engine_moved,
    holds_requests,
    is_of_older_process,
    restart_between,
    took_in_only,
)
from runner.observe.wedge_spans import (
    EngineKey,
    Look,
    PageTimes,
    Silence,
    Suspicion,
    WedgePatience,
    WedgeRule,
    WedgeSpan,
)

# Above the 30 s after which SGLang refreshes the gauges of an idle engine.
STALE_GAUGE_S = 40.0
# More than the prompt of a canary has with what chat templates put around it.
CANARY_PROMPT_TOKENS = 256
_MAX_WORKERS = 64


@dataclass(slots=True)
class _Engine:
    """`pages`: the last on which this engine was seen to move, by the start of the process.

    Several workers behind one address answer in turn, each with counters of its own. It moved last
    between `not_moved_before_s`, when the page before was asked for, and `moved_s`, when the one
    that shows it had come.
    """

    pages: dict[frozenset[float], PageReading]
    moved_s: float
    asked_s: float
    not_moved_before_s: float = float("inf")
    holding_s: float | None = None
    transfers_page: PageReading | None = None
    transfers_s: float = 0.0
    is_known: bool = True

    def was_restarted(self, page: PageReading) -> bool:
        """Whether this page is of a younger process than any before."""
        mine = self.pages.get(page.process_starts)
        newest = max(self.pages.values(), key=lambda each: max(each.process_starts, default=0.0))
        before = mine if mine is not None else newest
        return not is_of_older_process(before, page) and restart_between(before, page) is not None

    def last_moved_s(self, progress_s: float | None) -> float:
        """When it moved last: `progress_s`, our own last token, where that fits what pages show.

        A page that was long under way may be older than a token that came before it.
        """
        if progress_s is not None and self.not_moved_before_s <= progress_s <= self.moved_s:
            return progress_s
        return self.moved_s

    def did_move(self, engine: EngineReading, page: PageReading) -> bool | None:
        """Since the last page of the same process; None where nothing tells."""
        before = self.pages.get(page.process_starts)
        moved = engine_moved(engine, page, before) if before is not None else False
        if moved or before is None:
            self.pages[page.process_starts] = page
            while len(self.pages) > _MAX_WORKERS:
                del self.pages[next(iter(self.pages))]
        return moved


@dataclass(frozen=True, slots=True)
class _SentCanary:
    """For what a canary was sent, and what the engines had shown at that moment."""

    suspicion: Suspicion
    engines: Mapping[EngineKey, EngineReading]
    sent_s: float


class WedgeTracker:
    """One per stack and run. At most one span is open, however many engines an episode takes."""

    def __init__(self, patience: WedgePatience) -> None:
        self._patience = patience
        self._engines: dict[EngineKey, _Engine] = {}
        self._latest: Look | None = None
        self._excused_until_s = float("-inf")
        self._canary: _SentCanary | None = None
        self.spans: list[WedgeSpan] = []

    @property
    def open_span(self) -> WedgeSpan | None:
        last = self.spans[-1] if self.spans else None
        return last if last is not None and last.ended_s is None else None

    def look(self, look: Look) -> Suspicion | None:
        """Takes a look in; a suspicion that is worth a canary, where no span is open."""
        self._latest = look
        for service, page in look.pages.items():
            if page is not None:
                at_look = PageTimes(look.at_s, look.at_s)
                self._take_page(service, page, look.times.get(service, at_look))
        span = self.open_span
        if span is not None:
            self._follow(span, look)
            return None
        suspicion = self._suspicion(look, quiet_s=self._patience.quiet_s)
        if suspicion is None or look.at_s < self._excused_until_s:
            return None
        return suspicion

    def canary_sent(self, at_s: float) -> None:
        """Keeps what is seen now: what the canary itself moves is no sign of life later."""
        look = self._latest
        suspicion = self._suspicion(look, quiet_s=self._patience.quiet_s) if look else None
        if look is None or suspicion is None:
            self._canary = None
            return
        engines = {
            (service, engine.engine): engine
            for service, page in look.pages.items()
            for engine in (page.engines if page is not None else ())
        }
        self._canary = _SentCanary(suspicion, engines, at_s)

    def canary_unanswered(self, why: str, *, sent_s: float | None = None) -> WedgeSpan | None:
        """Opens a span where the last look still shows the stillness.

        `sent_s`: when the canary was sent. What began after that is another stillness, and needs a
        canary of its own: a pause between two tokens is not made longer by the one before it.
        """
        look = self._latest
        if look is None or self.open_span is not None:
            return None
        sent, self._canary = self._canary, None
        suspicion = self._suspicion(look, quiet_s=self._patience.quiet_s)
        if suspicion is None or (sent_s is not None and suspicion.started_s > sent_s):
            suspicion = self._still_but_for(sent, look) if sent is not None else None
        return self._opened(suspicion, look, why) if suspicion is not None else None

    def canary_not_taken(self) -> None:
        """Nobody listened: the server has gone, which is no wedge and is told elsewhere."""
        if self._latest is not None:
            self._excused_until_s = self._latest.at_s + self._patience.quiet_s

    def canary_answered(self) -> WedgeSpan | None:
        """Clears the suspicion, but for one engine of several that stands while others answer."""
        look = self._latest
        if look is None or self.open_span is not None:
            return None
        longest_s = max(self._patience.longest_pause_s, STALE_GAUGE_S)
        suspicion = self._suspicion(look, quiet_s=longest_s)
        is_apart = suspicion is not None and suspicion.rule is not WedgeRule.CLIENT
        if suspicion is not None and is_apart and self._has_others(suspicion):
            return self._opened(suspicion, look, "it stands while others answer")
        self._excused_until_s = look.at_s + self._patience.quiet_s
        return None

    def finish(self, silences: Iterable[Silence] = ()) -> None:
        """The watch is over; a span that is open stays without an end.

        `silences` name the victims that no look has met while they waited.
        """
        span = self.open_span
        if span is not None:
            span.end = "still open when the watch ended"
        for silence in silences:
            for each in self.spans:
                self._note_silence(each, silence)

    def _opened(self, suspicion: Suspicion, look: Look, why: str) -> WedgeSpan:
        span = WedgeSpan(
            rule=suspicion.rule,
            engines=suspicion.engines,
            where=self._names(suspicion.engines),
            started_s=suspicion.started_s,
            confirmed_s=look.at_s,
            confirmed_by=why,
        )
        self.spans.append(span)
        self._note_victims(span, look)
        return span

    def _has_others(self, suspicion: Suspicion) -> bool:
        return len(suspicion.engines) < len(self._engines)

    def _take_page(self, service: str, page: PageReading, times: PageTimes) -> None:
        at_s = times.read_s
        for engine in page.engines:
            key = (service, engine.engine)
            known = self._engines.get(key)
            if known is None or known.was_restarted(page):
                self._restarted(key, at_s, is_new=known is None)
                known = self._engines[key] = _Engine(
                    {page.process_starts: page}, at_s, times.asked_s
                )
            did_move = known.did_move(engine, page)
            known.is_known = did_move is not None
            if did_move:
                known.not_moved_before_s, known.moved_s = known.asked_s, at_s
            known.asked_s = times.asked_s
            self._note_holding(known, engine, at_s)
            self._note_transfers(known, engine, page, at_s)

    def _restarted(self, key: EngineKey, at_s: float, *, is_new: bool) -> None:
        span = self.open_span
        if span is not None and not is_new and key in span.engines:
            span.ended_s, span.end = at_s, "the server was restarted"

    def _note_holding(self, known: _Engine, engine: EngineReading, at_s: float) -> None:
        """A page that does not say it leaves things as they were: missing is not zero."""
        if engine.held is None:
            return
        if not holds_requests(engine):
            known.holding_s = None
        elif known.holding_s is None:
            known.holding_s = at_s

    def _note_transfers(
        self, known: _Engine, engine: EngineReading, page: PageReading, at_s: float
    ) -> None:
        """Keeps the first page from which on the transfer queue has been the same."""
        earlier = known.transfers_page
        before = _engine_on(earlier, engine.engine) if earlier is not None else None
        if before is None or not _same_transfers(before, engine):
            known.transfers_page, known.transfers_s = page, at_s

    def _suspicion(self, look: Look, *, quiet_s: float) -> Suspicion | None:
        return (
            self._still_engines(look.at_s, quiet_s)
            or self._still_client(look, quiet_s)
            or self._still_admission(look, max(quiet_s, self._patience.longest_pause_s))
        )

    def _still_but_for(self, canary: _SentCanary, look: Look) -> Suspicion | None:
        """The stillness for which a canary was sent, where its own prompt is all that moved since.

        A prefill server takes a canary in as it took in all that wait behind it.
        """
        suspicion = canary.suspicion
        if look.progress_s is not None and look.progress_s > canary.sent_s:
            return None
        still = frozenset(
            key for key in suspicion.engines if self._took_in_a_canary_only(key, canary, look)
        )
        if suspicion.rule is WedgeRule.ENGINE:
            held = {key: self._engines[key].holding_s for key in still}
            still = frozenset(k for k, s in held.items() if s is not None and s <= canary.sent_s)
            return replace(suspicion, engines=still) if still else None
        waited = any(each.quiet_s >= look.at_s - canary.sent_s for each in look.open_requests)
        is_whole = suspicion.rule is WedgeRule.CLIENT and still == suspicion.engines
        return suspicion if is_whole and waited else None

    def _took_in_a_canary_only(self, key: EngineKey, canary: _SentCanary, look: Look) -> bool:
        page, before = look.pages.get(key[0]), canary.engines.get(key)
        now = _engine_on(page, key[1]) if page is not None else None
        if now is None:  # what cannot be read says nothing
            return key in self._engines and self._engines[key].moved_s <= canary.sent_s
        return before is not None and took_in_only(before, now, at_most=CANARY_PROMPT_TOKENS)

    def _still_engines(self, at_s: float, quiet_s: float) -> Suspicion | None:
        progress_s = self._latest.progress_s if self._latest is not None else None
        is_only = len(self._engines) == 1  # then a token after the last page is of this engine
        own_s = progress_s if is_only and progress_s is not None else float("-inf")
        since = {
            key: max(engine.last_moved_s(progress_s), own_s, engine.holding_s)
            for key, engine in self._engines.items()
            if engine.holding_s is not None and engine.is_known
        }
        still = {key: start_s for key, start_s in since.items() if at_s - start_s >= quiet_s}
        if not still or self._client_moved_for_all(still, at_s, quiet_s):
            return None
        return Suspicion(WedgeRule.ENGINE, frozenset(still), min(still.values()))

    def _client_moved_for_all(
        self, still: Mapping[EngineKey, float], at_s: float, quiet_s: float
    ) -> bool:
        """A stack with one engine moves while our answers do: its counters may lag behind.

        Older versions count only finished requests.
        """
        progress_s = self._latest.progress_s if self._latest is not None else None
        moved_lately = progress_s is not None and at_s - progress_s < quiet_s
        return moved_lately and len(self._engines) == 1

    def _still_client(self, look: Look, quiet_s: float) -> Suspicion | None:
        waiting = [each for each in look.open_requests if each.quiet_s >= quiet_s]
        if not waiting:
            return None
        known = [engine for engine in self._engines.values() if engine.is_known]
        moments = [engine.last_moved_s(look.progress_s) for engine in known]
        if look.progress_s is not None:
            moments.append(look.progress_s)
        last_moved_s = max(moments, default=float("-inf"))
        if look.at_s - last_moved_s < quiet_s:
            return None
        started_s = look.at_s - max(each.quiet_s for each in waiting)
        return Suspicion(WedgeRule.CLIENT, frozenset(self._engines), max(started_s, last_moved_s))

    def _still_admission(self, look: Look, quiet_s: float) -> Suspicion | None:
        still: dict[EngineKey, float] = {}
        for key, engine in self._engines.items():
            page = look.pages.get(key[0])
            if page is None or engine.transfers_page is None:
                continue
            now = _engine_on(page, key[1])
            before = _engine_on(engine.transfers_page, key[1])
            is_long = look.at_s - engine.transfers_s >= quiet_s
            if now and before and is_long and admission_stands_still(before, now):
                still[key] = engine.transfers_s
        if not still:
            return None
        return Suspicion(WedgeRule.ADMISSION, frozenset(still), min(still.values()))

    def _follow(self, span: WedgeSpan, look: Look) -> None:
        """Ends the span where its engines move again, or where nothing is left to wait."""
        mine = [engine for key, engine in self._engines.items() if key in span.engines]
        moved = [engine.moved_s for engine in mine if engine.moved_s > span.confirmed_s]
        if span.rule is WedgeRule.ADMISSION:
            moved = [each.transfers_s for each in mine if each.transfers_s > span.confirmed_s]
        if span.rule is not WedgeRule.ADMISSION and (progress_s := look.progress_s) is not None:
            is_whole = len(span.engines) == len(self._engines)
            moved += [progress_s] if is_whole and progress_s > span.confirmed_s else []
        holds = any(engine.holding_s is not None for engine in mine)
        if moved:
            span.ended_s, span.end = min(moved), "tokens were made again"
        elif not holds and not look.open_requests:
            span.ended_s, span.end = look.at_s, "no request is left"
        self._note_victims(span, look)

    def _names(self, keys: Iterable[EngineKey]) -> tuple[str, ...]:
        """The service, and the engine where its service has several."""
        names: list[str] = []
        for service, engine in sorted(keys):
            engines = [name for other, name in self._engines if other == service]
            short = short_engine_name(engine, engines) if len(engines) > 1 else ""
            names.append(f"{service} {short}".strip())
        return tuple(names)

    def _note_victims(self, span: WedgeSpan, look: Look) -> None:
        for each in look.open_requests:
            silence_s = min(each.quiet_s, look.at_s - span.started_s)
            if silence_s >= self._patience.quiet_s:
                span.victims[each.request_id] = max(
                    silence_s, span.victims.get(each.request_id, 0.0)
                )

    def _note_silence(self, span: WedgeSpan, silence: Silence) -> None:
        until_s = silence.ended_s if span.ended_s is None else min(silence.ended_s, span.ended_s)
        within_s = until_s - max(silence.began_s, span.started_s)
        if within_s >= self._patience.quiet_s:
            name = silence.request_id
            span.victims[name] = max(within_s, span.victims.get(name, 0.0))


def _same_transfers(before: EngineReading, now: EngineReading) -> bool:
    role = MetricRole.DECODE_TRANSFER
    return bool(now.values.get(role)) and now.values.get(role) == before.values.get(role)


def _engine_on(page: PageReading, name: str) -> EngineReading | None:
    return next((engine for engine in page.engines if engine.engine == name), None)
