"""Values as the reads return them, with defaults, for tests of what pages compute from them."""

from typing import Any

from db.reads.campaigns import ArmFacts, CampaignFacts, VerdictFacts
from db.reads.runs import RunCounts
from db.reads.sessions import SessionFacts
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


def campaign_facts(campaign_id: int = 1, **columns: Any) -> CampaignFacts:
    values: dict[str, Any] = {
        "name": "decisive-test",
        "question": "Does it end?",
        "stack": "testbed",
        "source_path": "decisive-test.yaml",
        "order_seed": 7,
        "corrupt_outcomes": CORRUPT,
        "created_at_us": 0,
        "code_version": "0.1.0",
    }
    return CampaignFacts(id=campaign_id, **{**values, **columns})


def verdict_facts(**columns: Any) -> VerdictFacts:
    values: dict[str, Any] = {
        "campaign_id": 1,
        "hypothesis_id": 3,
        "slug": "host-pool",
        "claim": "The host mirror is the cause.",
        "predict": "corrupt == 0",
        "tolerate": 0.05,
        "goal": "eliminate",
        "predicted_rate": None,
        "known_good_arm_id": None,
        "is_registered": True,
        "arm_id": 2,
        "versus_arm_id": 1,
        "headline": "refuted",
        "elimination": "refuted",
        "direction": "unclear",
        "availability": "worse",
        "sentence": "It failed.",
        "reasons": [],
        "said": None,
        "rule": None,
        "decided_at_us": 0,
    }
    return VerdictFacts(**{**values, **columns})


def session_facts(session_id: int = 1, **columns: Any) -> SessionFacts:
    values: dict[str, Any] = {
        "run_id": 1,
        "session_index": 0,
        "dialogue_key": "d-000",
        "outcome": "leak",
        "reason": None,
        "detail": "Raw markup came as text.",
        "flags": [],
        "decisive_turn": 2,
        "rounds_planned": 4,
        "rounds_completed": 2,
        "started_at_us": 0,
        "ended_at_us": SECOND_US,
        "first_token_s": 0.5,
        "prompt_tokens": 300,
        "completion_tokens": 60,
        "host_cached_tokens": 0,
        "judge_version": "1",
    }
    return SessionFacts(id=session_id, **{**values, **columns})
