"""The whole product over the embedded stack: the fault is seen, its controls are clean."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.processes import ROOT, decisive

pytestmark = pytest.mark.end_to_end

CAMPAIGN = """
campaign: controls
question: Which switch makes the testbed corrupt tool calls, and which makes it wedge?
stack: testbed
factors:
  index_keys: [bf16]
  hicache: [on]
  host_pool: [fp8-sized]
  device_pages: [120]
  fault: [none, attend-to-all, stalled]
  concurrency: [40]
baseline: {fault: none}
workload:
  sessions: 40
  context_tokens: 140
  max_tokens: 400
  deadlines: {connect_s: 10, first_token_s: 60, no_progress_s: 60, session_s: 120}
  tool_latency: {median_ms: 20}
schedule: {blocks: 1, order_seed: 1}
corrupt: [leak, no_tool, malformed, wrong, degenerate]
"""
FAULTS = """
  fault:
    none: {}
    attend-to-all: {args: [--index-topk, all]}
    stalled: {args: [--stall-transfer-after, "60", --disaggregation-waiting-timeout, "3"]}
"""


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """The shipped testbed stack with its faults as one more factor."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "campaigns").mkdir()
    stack = (ROOT / "configs" / "stacks" / "testbed.yaml").read_text("utf-8")
    (tmp_path / "stacks" / "testbed.yaml").write_text(stack.rstrip("\n") + FAULTS, "utf-8")
    (tmp_path / "campaigns" / "controls.yaml").write_text(CAMPAIGN, "utf-8")
    return tmp_path


def test_the_fault_garbles_its_control_does_not_and_the_stall_only_silences(configs: Path) -> None:
    finished = decisive("run", "controls", "--json", configs=configs, check_s=500)

    result = json.loads(finished.stdout)
    runs: dict[str, dict[str, Any]] = {run["arm"]["fault"]: run for run in result["runs"]}
    assert {fault: run["state"] for fault, run in runs.items()} == dict.fromkeys(
        ("none", "attend-to-all", "stalled"), "done"
    )
    # By far more than the half dozen that chance could leave of the twenty that are usual.
    assert runs["none"]["corrupt"] >= 6
    assert runs["none"]["evidence"] == 40

    # The same stale bytes in the same pool, but nothing is selected by them any more.
    assert runs["attend-to-all"]["corrupt"] == 0
    assert runs["attend-to-all"]["evidence"] == 40
    assert "not_exercised" not in runs["attend-to-all"]["flags"]

    stalled = runs["stalled"]
    assert stalled["corrupt"] == 0
    assert stalled["counts"]["error"] >= 20
    assert stalled["wedge_requests"] >= 20
    assert stalled["wedge_lines"] >= stalled["wedge_requests"]
    corruption_without_a_hypothesis = 1
    assert finished.returncode == corruption_without_a_hypothesis
