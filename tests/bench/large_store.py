"""A store of any size, filled quickly with rows that look as recorded ones do; for benches only.

Writes rows in bulk and not through the recorder: what is measured is how they are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import insert
from sqlmodel import SQLModel

from db.store import Store, open_store
from db.tables.campaigns import ArmRow, CampaignRow, HypothesisRow, VerdictRow
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import RunRow
from db.tables.sessions import SessionRow, TurnRow
from db.vocabulary import CORRUPT_OUTCOMES, Outcome

SECOND_US = 1_000_000
START_US = 1_700_000_000 * SECOND_US
CONCURRENCIES = (1, 20, 60, 80)
KEYS = ("fp8", "bf16")
CACHES = ("off", "on")


@dataclass(frozen=True, slots=True)
class Size:
    """Of one campaign; log events and samples are of each run."""

    runs: int
    sessions_a_run: int = 80
    log_events_a_run: int = 400
    samples_a_run: int = 300

    @property
    def sessions(self) -> int:
        return self.runs * self.sessions_a_run


def fill_store(path: Path, size: Size, *, seed: int = 1) -> None:
    """One finished campaign of sixteen arms; sessions of the last run have two turns each."""
    random = Random(seed)
    with open_store(f"sqlite:///{path}") as store:
        arm_ids = _campaign(store)
        for run in range(1, size.runs + 1):
            outcomes = [_outcome(random) for _ in range(size.sessions_a_run)]
            _insert(store, RunRow, [_run(run, arm_ids, outcomes)])
            _insert(store, SessionRow, _sessions(run, outcomes, random))
            _insert(store, LogEventRow, _log_events(run, size.log_events_a_run, random))
            _insert(store, MetricSampleRow, _samples(run, size.samples_a_run, random))
        first = (size.runs - 1) * size.sessions_a_run + 1
        _insert(store, TurnRow, _turns(range(first, first + size.sessions_a_run)))


def _campaign(store: Store) -> list[int]:
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
    arms = [
        ArmRow(
            campaign_id=1,
            position=position,
            name=f"{keys} · {cache} · C={concurrency}",
            levels={"index_keys": keys, "hicache": cache, "concurrency": concurrency},
            concurrency=concurrency,
            sessions_per_run=80,
            is_baseline=position == 0,
        )
        for position, (keys, cache, concurrency) in enumerate(
            (k, c, n) for k in KEYS for c in CACHES for n in CONCURRENCIES
        )
    ]
    with store.write() as session:
        session.add(campaign)
        session.flush()
        session.add_all(arms)
        session.flush()
        hypothesis = HypothesisRow(
            campaign_id=1,
            slug="h",
            claim="It is the cache.",
            arm_id=1,
            versus_arm_id=16,
            predict="corrupt == 0",
            tolerate=0.05,
            recorded_at_us=START_US,
        )
        session.add(hypothesis)
        session.flush()
        session.add(
            VerdictRow(
                hypothesis_id=1,
                headline="refuted",
                elimination="refuted",
                direction="unclear",
                availability="not_shown_worse",
                sentence="It failed.",
                method="bench",
                decided_at_us=START_US,
            )
        )
        return [arm.id or 0 for arm in arms]


def _outcome(random: Random) -> Outcome:
    return random.choices((Outcome.DONE, Outcome.LEAK, Outcome.ERROR), (0.85, 0.1, 0.05))[0]


def _run(run: int, arm_ids: list[int], outcomes: list[Outcome]) -> dict[str, Any]:
    start = START_US + run * 90 * SECOND_US
    counts = {f"n_{outcome}": outcomes.count(outcome) for outcome in Outcome}
    return {
        "id": run,
        "campaign_id": 1,
        "arm_id": arm_ids[run % len(arm_ids)],
        "block": 1 + run // len(arm_ids),
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
    start = START_US + run * 90 * SECOND_US + 5 * SECOND_US
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
    start = START_US + run * 90 * SECOND_US
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
    start = START_US + run * 90 * SECOND_US
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


def _turns(session_ids: range) -> Iterator[dict[str, Any]]:
    for session_id in session_ids:
        for index in range(2):
            yield {
                "session_id": session_id,
                "turn_index": index,
                "round_index": index,
                "request_id": f"{session_id}-{index}",
                "due": {"kind": "call", "name": "lookup", "arguments": {}},
                "got": {"content": "x" * 2000},
                "context": {"user": "please look it up"},
                "reading": "tool",
                "flags": [],
                "markup": [],
                "transport_end": "clean_eof",
                "started_at_us": START_US,
                "duration_s": 1.0,
                "cached_tokens": {},
            }


def _insert(store: Store, table: type[SQLModel], rows: Any) -> None:
    with store.write() as session:
        session.connection().execute(insert(table), list(rows))
