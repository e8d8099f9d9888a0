"""A reduction whose runs are written into a store by a rule, in place of servers and sessions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from db.campaigns import register_campaign
from db.runs import plan_runs
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunState
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.file_shape import level_text
from runner.campaign.matrix import expand_arms
from runner.campaign.stack_file import load_stack
from runner.campaign.yaml_source import parse_yaml
from runner.execute.attended_run import AttendedEnd
from runner.execute.campaign_loop import CampaignEnd
from runner.execute.campaign_registration import due_runs, new_campaign
from runner.reduce.campaign_reduction import Before, Reduction, ReductionEnd
from runner.reduce.event_counts import Flips
from runner.reduce.standing import WEDGE_RULE, StandingRule
from runner.reduce.trial_campaign import Ends

STACK = load_stack(Path(__file__).parents[3] / "configs" / "stacks" / "testbed.yaml")
SESSIONS = 40
CAMPAIGN = """
campaign: suspects
question: Which of them is it?
stack: testbed
factors:
  index_keys: [fp8, bf16]
  hicache: [off, on]
  host_pool: [dtype-aware, fp8-sized]
  gate: [all, kv_only]
  concurrency: [40]
workload: {sessions: 40, rounds: 4, context_tokens: 140}
schedule: {blocks: 1, order_seed: 1, restart: every_run}
corrupt: [leak, wrong]
"""
CLEAN = {
    "index_keys": "fp8",
    "hicache": "off",
    "host_pool": "dtype-aware",
    "gate": "all",
    "concurrency": 40,
}
FAILING = {
    "index_keys": "bf16",
    "hicache": "on",
    "host_pool": "fp8-sized",
    "gate": "kv_only",
    "concurrency": 40,
}
F1 = {"index_keys": "bf16", "hicache": "on", "host_pool": "fp8-sized"}
Levels = Mapping[str, Any]
Columns = Mapping[str, Any]


def with_events(events: int, outcome: Outcome = Outcome.LEAK) -> Columns:
    return {f"n_{outcome}": events, "n_done": SESSIONS - events}


def fails_with(cause: Mapping[str, str], *, events: int = 20) -> Callable[[Levels, Campaign], Any]:
    """Half of the sessions are corrupt in an arm that has these levels."""

    def result(levels: Levels, campaign: Campaign) -> Columns:
        has_all = all(level_text(levels[name]) == level for name, level in cause.items())
        return with_events(events if has_all else 0)

    return result


@dataclass
class Bench:
    """Plays what it is asked for; `most_runs` more, then it is stopped by a signal."""

    store: Store
    result: Callable[[Levels, Campaign], Columns | None]
    most_runs: int = 1000
    campaigns: list[Campaign] = field(default_factory=list)
    levels: list[Levels] = field(default_factory=list)

    def play(self, campaign: Campaign) -> AttendedEnd:
        """A result of None is a run that failed."""
        registered = register_campaign(self.store, new_campaign(campaign, STACK))
        campaign_id = registered.campaign.id or 0
        self.campaigns.append(campaign)
        arms = expand_arms(campaign)
        position_of = {row.id: row.position for row in registered.arms}
        due = due_runs(campaign, STACK, registered)
        for planned in plan_runs(self.store, campaign_id, due):
            if len(self.levels) >= self.most_runs:
                return AttendedEnd(None, was_asked=True, budget_spent=False)
            levels = arms[position_of[planned.arm_id]].levels
            self.levels.append(levels)
            self._write(planned.id or 0, self.result(levels, campaign))
        return AttendedEnd(CampaignEnd(campaign_id, False, None), False, False)

    def _write(self, run_id: int, columns: Columns | None) -> None:
        with self.store.write() as session:
            run = session.get(RunRow, run_id)
            assert run is not None
            run.state = RunState.FAILED if columns is None else RunState.DONE
            run.reason = "it did not start" if columns is None else None
            run.started_at_us, run.ended_at_us = 0, 30_000_000
            run.n_ended = SESSIONS
            for name, value in {"wedges": 0, **(columns or {})}.items():
                setattr(run, name, value)


def ends_of(text: str = CAMPAIGN, *, flips: Flips = Flips.CORRUPT) -> Ends:
    return Ends(
        campaign=campaign_of(parse_yaml("suspects.yaml", text)),
        clean=CLEAN,
        failing=FAILING,
        sessions=SESSIONS,
        flips=flips,
        may_restart=True,
    )


def reduction_of(bench: Bench, ends: Ends | None = None, **options: Any) -> Reduction:
    ends = ends or ends_of()
    rule = WEDGE_RULE if ends.flips is Flips.WEDGE else StandingRule()
    values: dict[str, Any] = {"lowers": False, **options}
    return Reduction(ends=ends, stack=STACK, store=bench.store, rule=rule, **values)


def played(bench: Bench, ends: Ends | None = None, **options: Any) -> ReductionEnd:
    return reduction_of(bench, ends, **options).run(bench.play, told=_unheard)


def _unheard(before: Before) -> None:
    """Nobody listens."""
