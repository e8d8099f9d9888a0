"""A store of any size, filled quickly with rows that look as recorded ones do; for benches only.

Writes rows in bulk and not through the recorder: what is measured is how they are read. A store so
many times larger holds the same rows so many times over, copied by the database itself: ten
million log events take minutes, and the two stores differ in size only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import ColumnElement, insert, select
from sqlmodel import SQLModel

from db.store import Store, open_store
from db.tables.campaigns import ArmRow, CampaignRow, HypothesisRow, VerdictRow
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import RunRow
from db.tables.sessions import SessionRow, TurnRow
from db.vocabulary import CORRUPT_OUTCOMES, Outcome

SECOND_US = 1_000_000
START_US = 1_700_000_000 * SECOND_US
CONCURRENCIES = (1, 20, 40, 60, 80)
KEYS = ("fp8", "bf16")
ARMS = len(CONCURRENCIES) * len(KEYS)
TURNS_A_SESSION = 2
RUN_US = 90 * SECOND_US


class Growth(StrEnum):
    """How a store gets large: by further campaigns of the same size, by runs of one campaign, or by
    the campaigns of a gate, which has one run each night.
    """

    CAMPAIGNS = "many campaigns"
    RUNS = "one campaign"
    GATE = "a campaign a run"


@dataclass(frozen=True, slots=True)
class Size:
    """`runs`, `sessions_a_run` and so on are of the rows that are made once; `copies` counts how
    often the store holds them.
    """

    runs: int = 20
    sessions_a_run: int = 500
    log_events_a_run: int = 5000
    samples_a_run: int = 300
    copies: int = 1
    growth: Growth = Growth.CAMPAIGNS

    @property
    def all_runs(self) -> int:
        return self.runs * self.copies

    @property
    def all_sessions(self) -> int:
        return self.all_runs * self.sessions_a_run

    @property
    def all_log_events(self) -> int:
        return self.all_runs * self.log_events_a_run

    @property
    def campaigns(self) -> int:
        return 1 if self.growth is Growth.RUNS else self.copies

    @property
    def arms(self) -> int:
        """Of each campaign; a gate has two, and of the first of them a run."""
        return 2 if self.growth is Growth.GATE else ARMS

    @property
    def newest_arms(self) -> tuple[int, int]:
        """Two of the newest campaign, the second of them with runs."""
        last = self.campaigns * self.arms
        return (last, last - 1) if self.growth is Growth.GATE else (last - 1, last)


def gate_size(copies: int) -> Size:
    """As many runs and sessions as `Size(copies=copies)`, each run in a campaign of its own."""
    size = Size()
    return Size(runs=1, copies=size.runs * copies, growth=Growth.GATE)


def fill_store(path: Path, size: Size, *, seed: int = 1) -> None:
    """Finished campaigns with one refuted hypothesis each."""
    random = Random(seed)
    with open_store(f"sqlite:///{path}") as store:
        _insert_campaign(store, size)
        for run in range(1, size.runs + 1):
            outcomes = [_outcome(random) for _ in range(size.sessions_a_run)]
            first_session = (run - 1) * size.sessions_a_run + 1
            _insert(store, RunRow, [_run(run, outcomes, arms=size.arms)])
            _insert(store, SessionRow, _sessions(run, outcomes, random))
            _insert(store, TurnRow, _turns(run, first_session, outcomes))
            _insert(store, LogEventRow, _log_events(run, size.log_events_a_run, random))
            _insert(store, MetricSampleRow, _samples(run, size.samples_a_run, random))
        for copy in range(1, size.copies):
            _copy(store, size, copy)


def _copy(store: Store, size: Size, number: int) -> None:
    """The first rows once more, under further ids and at a later time."""
    sessions = size.runs * size.sessions_a_run
    by_id = {
        "run_id": number * size.runs,
        "session_id": number * sessions,
        "at_us": number * size.runs * RUN_US,
    }
    rows_of: dict[Any, int] = {
        RunRow: size.runs,
        SessionRow: sessions,
        TurnRow: sessions * TURNS_A_SESSION,
        LogEventRow: size.runs * size.log_events_a_run,
        MetricSampleRow: size.runs * size.samples_a_run,
    }
    if size.growth is not Growth.RUNS:
        rows_of = {CampaignRow: 1, ArmRow: size.arms, HypothesisRow: 1, VerdictRow: 1} | rows_of
        by_id |= {"campaign_id": number, "hypothesis_id": number}
        by_id |= dict.fromkeys(("arm_id", "versus_arm_id"), number * size.arms)
    else:
        by_id |= {"block": number * size.runs // ARMS, "position": number * size.runs}
    with store.write() as session:
        for row, rows in rows_of.items():
            table = row.metadata.tables[str(row.__tablename__)]
            columns = [_copied(column, by_id, number, rows) for column in table.columns]
            first = select(*columns).where(table.c.id <= rows).order_by(table.c.id)
            session.connection().execute(insert(table).from_select(table.columns.keys(), first))


def _copied(
    column: ColumnElement[Any], by_id: dict[str, int], number: int, rows: int
) -> ColumnElement[Any]:
    name = str(column.key)
    if name == "id":
        return column + number * rows
    if name in ("run_key", "definition_key"):
        return column + f"-{number}"
    if name.endswith("_at_us"):
        name = "at_us"
    return column + by_id[name] if name in by_id else column


def _insert_campaign(store: Store, size: Size) -> None:
    campaign = CampaignRow(
        name="large",
        question="How fast is it?",
        stack="testbed",
        source_path="large.yaml",
        source_text="campaign: large\n",
        definition_key="large",
        order_seed=1,
        corrupt_outcomes=[str(outcome) for outcome in CORRUPT_OUTCOMES],
        created_at_us=START_US,
        code_version="bench",
    )
    levels = [(keys, concurrency) for keys in KEYS for concurrency in CONCURRENCIES][: size.arms]
    arms = [
        ArmRow(
            campaign_id=1,
            position=position,
            name=f"{keys} · C={concurrency}",
            levels={"index_keys": keys, "concurrency": concurrency},
            concurrency=concurrency,
            sessions_per_run=size.sessions_a_run,
            is_baseline=position == 0,
        )
        for position, (keys, concurrency) in enumerate(levels)
    ]
    hypothesis = HypothesisRow(
        campaign_id=1,
        slug="h",
        claim="It is the keys.",
        arm_id=1,
        versus_arm_id=size.arms,
        predict="corrupt == 0",
        tolerate=0.05,
        recorded_at_us=START_US,
    )
    verdict = VerdictRow(
        hypothesis_id=1,
        headline="refuted",
        elimination="refuted",
        direction="unclear",
        availability="not_shown_worse",
        sentence="It failed.",
        method="bench",
        decided_at_us=START_US,
    )
    with store.write() as session:
        for rows in ([campaign], arms, [hypothesis], [verdict]):
            session.add_all(rows)
            session.flush()


def _outcome(random: Random) -> Outcome:
    return random.choices((Outcome.DONE, Outcome.LEAK, Outcome.ERROR), (0.85, 0.1, 0.05))[0]


def _run(run: int, outcomes: list[Outcome], *, arms: int) -> dict[str, Any]:
    start = START_US + run * RUN_US
    counts = {f"n_{outcome}": outcomes.count(outcome) for outcome in Outcome}
    return {
        "id": run,
        "campaign_id": 1,
        "arm_id": 1 + (run - 1) % arms,
        "block": 1 + (run - 1) // arms,
        "position": run,
        "attempt": 1,
        "run_key": f"key-{run}",
        "state": "done",
        "sessions_planned": len(outcomes),
        "planned_at_us": START_US,
        "started_at_us": start,
        "driving_at_us": start + 5 * SECOND_US,
        "ended_at_us": start + 80 * SECOND_US,
        "wall_s": 75.0,
        "n_ended": len(outcomes),
        "wedges": 0,
        "wedge_requests": 0,
        "wedge_lines": 0,
        "flags": [],
        "verification": [],
        "exposure": {},
        "client_health": {},
        "wedge_facts": {},
        **counts,
    }


def _sessions(run: int, outcomes: list[Outcome], random: Random) -> Iterator[dict[str, Any]]:
    start = START_US + run * RUN_US + 5 * SECOND_US
    for index, outcome in enumerate(outcomes):
        begun = start + random.randrange(SECOND_US)
        yield {
            "run_id": run,
            "session_index": index,
            "dialogue_key": f"d-{index:04}",
            "outcome": str(outcome),
            "reason": "stalled" if outcome is Outcome.ERROR else None,
            "detail": "A call was due; raw markup came as text." * (outcome is Outcome.LEAK),
            "flags": [],
            "decisive_turn": 1 if outcome is Outcome.LEAK else None,
            "rounds_planned": 4,
            "rounds_completed": 2,
            "started_at_us": begun,
            "ended_at_us": begun + random.randrange(5, 60) * SECOND_US,
            "first_token_s": None if outcome is Outcome.ERROR else random.lognormvariate(0, 1),
            "prompt_tokens": 900,
            "completion_tokens": 60,
            "host_cached_tokens": 0,
            "judge_version": "1",
        }


def _log_events(run: int, count: int, random: Random) -> Iterator[dict[str, Any]]:
    start = START_US + run * RUN_US
    for number in range(count):
        kind, event_class = random.choice((("retract", "info"), ("waiting_for_input", "wedge")))
        yield {
            "run_id": run,
            "service": "server",
            "at_us": start + random.randrange(80 * SECOND_US),
            "kind": kind,
            "event_class": event_class,
            "request_ref": f"{run:x}-{number:x}",
            "is_own_cancellation": False,
            "line": f"[TP0] {kind} rid={run:x}-{number:x} while 71 requests were running",
        }


def _samples(run: int, count: int, random: Random) -> Iterator[dict[str, Any]]:
    start = START_US + run * RUN_US
    names = ("sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage")
    for number in range(count):
        yield {
            "run_id": run,
            "service": "server",
            "at_us": start + (number // len(names)) * 2 * SECOND_US,
            "name": names[number % len(names)],
            "labels": {},
            "value": float(random.randrange(80)),
        }


def _turns(run: int, first_session: int, outcomes: list[Outcome]) -> Iterator[dict[str, Any]]:
    start = START_US + run * RUN_US + 5 * SECOND_US
    for session_id, outcome in enumerate(outcomes, start=first_session):
        for index in range(TURNS_A_SESSION):
            is_last = index == TURNS_A_SESSION - 1
            yield {
                "session_id": session_id,
                "turn_index": index,
                "round_index": index,
                "request_id": f"{session_id}-{index}",
                "due": {"kind": "call", "name": "lookup", "arguments": {}},
                "got": {"content": "It is looked up, one moment please. " * 4},
                "context": {"user": "please look it up"},
                "reading": "tool",
                "outcome": str(outcome) if is_last else None,
                "flags": [],
                "markup": [],
                "transport_end": "clean_eof",
                "started_at_us": start + index * 2 * SECOND_US,
                "first_byte_s": 0.2,
                "first_token_s": 0.4,
                "duration_s": 1.0,
                "cached_tokens": {},
            }


def _insert(store: Store, table: type[SQLModel], rows: Any) -> None:
    with store.write() as session:
        session.connection().execute(insert(table), list(rows))
