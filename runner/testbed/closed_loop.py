"""A small campaign without HTTP: scripted dialogues in the model's language, against the engine.

Time is counted in engine steps, tool latency included, so that a run is the same every time (on a
GPU but for its load-backs). Answers are read by the parsers that a server would use.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from dataclasses import dataclass, field

from runner.testbed.answer_reader import AnswerReader
from runner.testbed.batch_reports import Instruments
from runner.testbed.detokenizer_states import DetokenizerStates
from runner.testbed.engine_metrics import EngineMetrics, make_registry
from runner.testbed.generation import FinishReason, GenerationEvent, GenerationRequest
from runner.testbed.grammar import Dialogue, Segment, segments
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.tool_parser import ParserOutput
from runner.testbed.unified_engine import UnifiedEngine
from runner.testbed.vocabulary import load_vocabulary
from runner.testbed.wrong_turns import ScriptedClient

_AUDIT_COUNTERS = ("load_backs", "races_lost", "late_copies", "late_page_writes")


class StepClock:
    """Seconds that pass only when the driver says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass(slots=True)
class Session:
    """One dialogue on its way; `position` is the next segment the assistant owes."""

    index: int
    script: list[Segment]
    client: ScriptedClient
    history: list[int] = field(default_factory=list)
    position: int = 0
    output: list[int] = field(default_factory=list)
    read: list[ParserOutput] = field(default_factory=list)
    turn: int = 0
    sent_s: float = 0.0


@dataclass(slots=True)
class Tally:
    """How the sessions of one arm ended: `right`, `corrupt` or `error`, and what the engine did.

    `wrong_turns`: what was wrong with the corrupt ones.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong_turns: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)
    host_tokens: int = 0
    decoded_tokens: int = 0
    steps: int = 0
    audit: dict[str, float] = field(default_factory=dict)
    wrong_outputs: list[tuple[int, list[int], tuple[int, ...]]] = field(default_factory=list)


class ClosedLoop:
    """`concurrency` sessions at a time; a session ends at its first wrong answer or error.

    Who has waited for an answer for `patience_s` gives up, as a client does.
    """

    def __init__(
        self,
        model: FusedModel,
        options: LaunchOptions,
        *,
        concurrency: int,
        dialogues: list[Dialogue],
        seed: int = 0,
        latency_steps: float = 8.0,
        step_s: float = 0.01,
        patience_s: float = math.inf,
        stream: bool = True,
    ) -> None:
        self.clock = StepClock()
        self.tally = Tally()
        self.registry = make_registry(
            options.served_model_name, hicache=options.enable_hierarchical_cache
        )
        instruments = Instruments(EngineMetrics(self.registry), self.clock, self.tally.log.append)
        self.engine = UnifiedEngine(model, options, instruments)
        vocabulary = load_vocabulary()
        self._detokenizers = DetokenizerStates(vocabulary, options.detokenizer_max_states)
        self._readers: dict[str, AnswerReader] = {}
        self._sessions = [
            Session(
                index,
                list(segments(dialogue)),
                ScriptedClient(vocabulary, dialogue, stream=stream),
            )
            for index, dialogue in enumerate(dialogues)
        ]
        self._to_start = self._sessions[::-1]
        self._open: dict[str, Session] = {}
        self._due: list[tuple[int, int, Session]] = []
        self._rng = random.Random(seed)
        self._concurrency = concurrency
        self._latency_steps = latency_steps
        self._step_s = step_s
        self._patience_s = patience_s

    def run(self, max_steps: int = 100_000) -> Tally:
        for _ in range(self._concurrency):
            self._start_next(spread=True)
        while self._open or self._due:
            assert self.tally.steps < max_steps, "the engine does not come to an end"
            self._send_due()
            self._give_up()
            for event in self.engine.step():
                self._take(event)
            self.clock.now_s += self._step_s
            self.tally.steps += 1
        self.engine.publish_gauges()
        self.tally.audit = self._audit()
        return self.tally

    def _audit(self) -> dict[str, float]:
        """What the engine counted of its own faults, by the metric's last words."""
        counters = {
            name: self.registry.value(f"testbed:{name}_total")
            for name in _AUDIT_COUNTERS
            if self.registry.has(f"testbed:{name}_total")
        }
        pages = {
            f"{name}_{where}": self.registry.value(f"testbed:{name}_total", where=where)
            for name in ("audited_index_pages", "differing_index_pages")
            for where in ("host", "device", "decode")
        }
        return counters | pages

    def _start_next(self, *, spread: bool = False) -> None:
        if self._to_start:
            session = self._to_start.pop()
            self._hear(session)
            self._schedule(session, self._rng.randrange(30) if spread else 1)

    def _hear(self, session: Session) -> None:
        """Add what system, user or tool say until the assistant has to speak."""
        while not session.script[session.position].by_assistant:
            session.history += session.script[session.position].tokens
            session.position += 1

    def _schedule(self, session: Session, delay_steps: int) -> None:
        heapq.heappush(self._due, (self.tally.steps + delay_steps, session.index, session))

    def _send_due(self) -> None:
        while self._due and self._due[0][0] <= self.tally.steps:
            _, _, session = heapq.heappop(self._due)
            session.turn += 1
            session.output, session.read = [], []
            session.sent_s = self.clock()
            rid = f"{session.index}-{session.turn}"
            self._open[rid] = session
            parsing = self.engine.options.parsing()
            self._readers[rid] = AnswerReader(
                rid, session.client.request, self._detokenizers, parsing
            )
            self.engine.submit(GenerationRequest(rid, tuple(session.history), max_new_tokens=200))

    def _give_up(self) -> None:
        now_s = self.clock()
        for rid, session in self._open.items():
            if now_s - session.sent_s >= self._patience_s:
                self.engine.abort(rid)
                session.sent_s = math.inf  # the engine's answer to the abort ends it

    def _take(self, event: GenerationEvent) -> None:
        session = self._open[event.rid]
        if event.token is not None:
            session.output.append(event.token)
            self.tally.decoded_tokens += 1
        session.read += self._readers[event.rid].read(event)
        if event.finish is None:
            return
        del self._open[event.rid]
        del self._readers[event.rid]
        self.tally.host_tokens += event.cached.host
        due = session.script[session.position].tokens
        wrong = session.client.wrong_turn(session.turn - 1, session.output, due, session.read)
        if event.finish is FinishReason.ABORT:
            self._end(session, "error")
        elif wrong is not None:
            self.tally.wrong_outputs.append((session.index, session.output, due))
            self.tally.wrong_turns[wrong] += 1
            self._end(session, "corrupt")
        else:
            self._continue(session)

    def _continue(self, session: Session) -> None:
        session.history += session.output
        session.position += 1
        if session.position == len(session.script):
            self._end(session, "right")
        else:
            self._hear(session)
            latency = self._latency_steps * math.exp(self._rng.gauss(0, 1.2))
            self._schedule(session, max(1, round(latency)))

    def _end(self, session: Session, outcome: str) -> None:
        self.tally.outcomes[outcome] += 1
        self._start_next()
