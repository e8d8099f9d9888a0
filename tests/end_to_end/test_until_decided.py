"""A worker process runs what the page asked for until it is decided, on the embedded stack."""

from pathlib import Path

import pytest

from db.launch_queue import enqueue
from db.store import open_store
from tests.end_to_end.processes import ROOT, ask_store, decisive

pytestmark = pytest.mark.end_to_end

CAMPAIGN = """
campaign: {name}
question: Are tool calls clean with fp8 index keys?
stack: testbed
factors:
  index_keys: [fp8, bf16]
  hicache: [on]
  host_pool: [fp8-sized]
  device_pages: [60]
  concurrency: [20]
baseline: {{index_keys: bf16}}
workload:
  sessions: 20
  rounds: 4
  context_tokens: 140
  max_tokens: 400
  tool_latency: {{median_ms: 5}}
schedule: {{blocks: 1, order_seed: 1, restart: when_needed}}
corrupt: [leak, no_tool, malformed, wrong, degenerate]
stop: decided
hypotheses:
  - {{id: fp8, claim: nothing is corrupted, arm: {{index_keys: fp8}}, versus: baseline,
     predict: corrupt == 0, tolerate: {tolerate}}}
"""


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """One campaign that a few blocks decide, and one for which so few sessions never suffice."""
    for folder in ("stacks", "campaigns"):
        (tmp_path / folder).mkdir()
    stack = (ROOT / "configs" / "stacks" / "testbed.yaml").read_text("utf-8")
    few_pages = '    60:\n      args: [--pages, "60"]\n'
    (tmp_path / "stacks" / "testbed.yaml").write_text(
        stack.replace("  device_pages:\n", f"  device_pages:\n{few_pages}"), "utf-8"
    )
    for name, tolerate in (("soon", 0.15), ("never", 0.01)):
        text = CAMPAIGN.format(name=name, tolerate=tolerate)
        (tmp_path / "campaigns" / f"{name}.yaml").write_text(text, "utf-8")
    return tmp_path


def test_a_worker_adds_blocks_until_one_is_decided_and_the_other_has_as_many_as_it_may(
    configs: Path,
) -> None:
    with open_store(f"sqlite:///{configs / 'decisive.db'}") as store:
        enqueue(store, "soon", most_blocks=9)
        enqueue(store, "never", most_blocks=2)

    worked = decisive("worker", "--until-empty", configs=configs, check_s=500)

    assert worked.returncode == 0, worked.stderr
    requests = ask_store(configs, "SELECT state, message FROM launch_request ORDER BY id")
    assert requests[0] == ("done", "decided: fp8 confirmed")
    assert requests[1][0] == "done"
    assert "not decided after 2 blocks: fp8" in str(requests[1][1])
    blocks = dict(
        ask_store(
            configs,
            "SELECT name, count(DISTINCT block) FROM run JOIN campaign"
            " ON campaign.id = run.campaign_id WHERE state = 'done' GROUP BY name",
        )
    )
    assert 1 < int(str(blocks["soon"])) < 9
    assert blocks["never"] == 2
