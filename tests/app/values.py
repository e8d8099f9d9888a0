"""Values as the reads return them, with defaults, for tests of what pages compute from them."""

from typing import Any

from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts
from db.vocabulary import CORRUPT_OUTCOMES, Outcome, RunState

CORRUPT = [str(outcome) for outcome in CORRUPT_OUTCOMES]
SECOND_US = 1_000_000


def arm_facts(arm_id: int = 1, **columns: Any) -> ArmFacts:
    concurrency = columns.get("concurrency", 80)
    values: dict[str, Any] = {
        "campaign_id": 1,
        "position": arm_id,
        "name": f"bf16 · on · C={concurrency}",
        "levels": {"index_keys": "bf16", "hicache": "on", "concurrency": concurrency},
        "tag": None,
        "concurrency": concurrency,
        "sessions_per_run": 80,
        "is_baseline": False,
    }
    return ArmFacts(id=arm_id, **{**values, **columns})


def run_counts(
    run_id: int = 1,
    *,
    state: RunState = RunState.DONE,
    counts: dict[Outcome, int] | None = None,
    **columns: Any,
) -> RunCounts:
    numbers = {f"n_{outcome}": (counts or {}).get(outcome, 0) for outcome in Outcome}
    values: dict[str, Any] = {
        "campaign_id": 1,
        "arm_id": 1,
        "block": 0,
        "position": 0,
        "attempt": 1,
        "run_key": f"key-{run_id}",
        "reason": None,
        "flags": [],
        "launch_id": None,
        "worker": None,
        "sessions_planned": 80,
        "planned_at_us": 0,
        "started_at_us": None,
        "driving_at_us": None,
        "ended_at_us": None,
        "wall_s": None,
        "n_ended": sum(numbers.values()),
        "wedges": None,
        "wedge_requests": 0,
        "wedge_lines": 0,
        "peak_running": None,
    }
    return RunCounts(id=run_id, state=state, **{**values, **numbers, **columns})
