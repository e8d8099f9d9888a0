"""One session at a time, with its prefixes pushed into the host's memory, on the embedded stack."""

from pathlib import Path

import pytest

from tests.end_to_end.processes import ROOT, ask_store, decisive

pytestmark = pytest.mark.end_to_end

CAMPAIGN = """
campaign: flood
question: Does a single session load back what was evicted before?
stack: testbed
factors:
  index_keys: [bf16]
  hicache: [on]
  host_pool: [dtype-aware]
  device_pages: [120]
  concurrency: [1]
workload:
  sessions: 3
  rounds: 1
  context_tokens: 300
  max_tokens: 100
  evict_flood: true
  deadlines: {first_token_s: 600, no_progress_s: 600, session_s: 600}
schedule: {blocks: 1}
"""


def test_a_session_alone_loads_back_and_the_flood_counts_in_nothing(tmp_path: Path) -> None:
    for folder in ("stacks", "campaigns"):
        (tmp_path / folder).mkdir()
    stack = (ROOT / "configs" / "stacks" / "testbed.yaml").read_text("utf-8")
    patient = stack.replace("ready_within_s: 90", "ready_within_s: 600")
    (tmp_path / "stacks" / "testbed.yaml").write_text(patient, "utf-8")
    (tmp_path / "campaigns" / "flood.yaml").write_text(CAMPAIGN, "utf-8")

    told = decisive("run", "flood", configs=tmp_path, check_s=900)

    assert "evict_flood: " in told.stdout + told.stderr
    # Without the flood the pool has room for all three, and nothing is ever loaded back.
    exercised = ask_store(
        tmp_path,
        "SELECT state, json_extract(exposure, '$.cache_tokens.loaded_back_tokens') > 0, "
        "json_extract(exposure, '$.evict_flood.tokens') >= 1.1 * 120 * 64 FROM run",
    )
    assert exercised == [("done", 1, 1)]
    ((flags,),) = ask_store(tmp_path, "SELECT flags FROM run")
    assert "not_exercised" not in str(flags) and "foreign_traffic" not in str(flags)
    sessions = ask_store(tmp_path, "SELECT outcome, host_cached_tokens >= 128 FROM session")
    assert sessions == [("done", 1)] * 3
