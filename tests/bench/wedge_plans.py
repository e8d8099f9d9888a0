"""The campaigns of the bench of wedges: which faults the testbed gets, under which load."""

import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """`args` are switches of the testbed; `sends`: what its processes get after six sessions.

    `only` names the one process that gets it. `wedges`: how many spans are right.
    """

    args: tuple[str, ...] = ()
    sends: signal.Signals | None = None
    for_s: float | None = None
    only: str | None = None
    wedges: int = 0


FAULTS = {
    "stall_20": Fault(("--stall-transfer-after", "20"), wedges=1),
    "stall_60": Fault(("--stall-transfer-after", "60"), wedges=1),
    "stall_60_split": Fault(("--split", "--stall-transfer-after", "60"), wedges=1),
    "scheduler_stalls": Fault(("--stall-scheduler-after-steps", "200"), wedges=1),
    "scheduler_rests_25s": Fault(
        ("--stall-scheduler-after-steps", "200", "--stall-scheduler-s", "25"), wedges=1
    ),
    "scheduler_rests_5s": Fault(
        ("--stall-scheduler-after-steps", "200", "--stall-scheduler-s", "5"),
    ),
    "slots_leak": Fault(("--leak-slot-every", "3", "--max-running-requests", "16"), wedges=1),
    "dies": Fault(("--die-after-steps", "200")),
    "frozen": Fault(sends=signal.SIGSTOP, wedges=1),
    "frozen_25s": Fault(sends=signal.SIGSTOP, for_s=25.0, wedges=1),
    "decode_frozen": Fault(("--split",), sends=signal.SIGSTOP, only="decode", wedges=1),
    "prefill_frozen": Fault(("--split",), sends=signal.SIGSTOP, only="prefill", wedges=1),
    "killed": Fault(sends=signal.SIGKILL),
    "sound": Fault(),
    "sound_split": Fault(("--split",)),
    "pause_5s": Fault(sends=signal.SIGSTOP, for_s=5.0),
    "slow_transfers": Fault(("--slow-transfer-every", "5", "--slow-transfer-s", "4")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One campaign: which faults, under which load. `on_wedge: restart` ends a run at its wedge."""

    name: str
    faults: tuple[str, ...]
    concurrency: str = "12"
    sessions: int = 24
    context_tokens: int = 120
    tool_ms: int = 100
    blocks: int = 1
    on_wedge: str = "restart"


def plans(blocks: int) -> tuple[Plan, ...]:
    return (
        Plan(
            name="stalls",
            faults=(
                "stall_20",
                "stall_60",
                "stall_60_split",
                "scheduler_stalls",
                "slots_leak",
                "frozen",
                "decode_frozen",
            ),
            blocks=blocks,
        ),
        Plan(
            name="ends",
            faults=("frozen_25s", "scheduler_rests_25s", "prefill_frozen", "killed", "dies"),
            blocks=max(1, blocks - 1),
            on_wedge="record",
        ),
        Plan(
            name="sound",
            faults=("sound", "sound_split", "pause_5s", "scheduler_rests_5s", "slow_transfers"),
            blocks=max(1, blocks // 2),
        ),
        Plan(name="load", faults=("stall_60", "frozen"), concurrency="80", sessions=80),
        Plan(name="long", faults=("stall_20", "frozen"), context_tokens=700),
        Plan(name="sound-load", faults=("sound",), concurrency="1, 80", sessions=80),
        Plan(name="sound-long", faults=("sound",), context_tokens=700, blocks=2),
        Plan(name="sound-idle", faults=("sound",), concurrency="2", sessions=6, tool_ms=4000),
    )


def campaign_text(plan: Plan) -> str:
    """Its campaign file."""
    names = ("name", "concurrency", "sessions", "context_tokens", "tool_ms", "blocks", "on_wedge")
    fields = {name: getattr(plan, name) for name in names}
    return CAMPAIGN.format(**fields, levels=", ".join(plan.faults))


def write_stack(configs: Path) -> None:
    """The stack file, in a new folder of configurations."""
    (configs / "stacks").mkdir()
    (configs / "campaigns").mkdir()
    levels = "".join(
        f"    {name}:\n      args: [{', '.join(repr(word) for word in fault.args)}]\n"
        if fault.args
        else f"    {name}: {{}}\n"
        for name, fault in FAULTS.items()
    )
    (configs / "stacks" / "wedge-bench.yaml").write_text(STACK.format(levels=levels), "utf-8")


STACK = """
stack: wedge-bench
description: The testbed with a fault for each level.
model: tiny-dsml
may_restart: true
services:
  server:
    controller: process
    command: ["{{python}}", "-m", "runner.testbed", serve, --host, "127.0.0.1", --port, "{{port}}"]
    env: {{OMP_NUM_THREADS: "1"}}
    port: free
    server_info: /server_info
    flush_cache: /flush_cache
    metrics: {{path: /metrics, dialect: sglang}}
    log: process
    ready_within_s: 180
factors:
  fault:
{levels}
"""

CAMPAIGN = """
campaign: {name}
question: Is every wedge seen, and none invented?
stack: wedge-bench
factors:
  fault: [{levels}]
  concurrency: [{concurrency}]
workload:
  sessions: {sessions}
  rounds: 3
  context_tokens: {context_tokens}
  max_tokens: 400
  deadlines: {{connect_s: 10, first_token_s: 20, no_progress_s: 20, session_s: 150}}
  tool_latency: {{median_ms: {tool_ms}, sigma: 1.0}}
schedule: {{blocks: {blocks}, order_seed: 7, restart: every_run}}
corrupt: [leak, malformed, degenerate]
on_wedge: {on_wedge}
"""
