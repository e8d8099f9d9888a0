"""A configs folder whose server somebody else started: its runs share one launch."""

from pathlib import Path

STACK = """
stack: mine
description: Started by hand.
model: my-model
services:
  server: {controller: external, base_url: "http://127.0.0.1:9"}
factors:
  temperature:
    "0": {request: {temperature: 0}}
    "0.7": {request: {temperature: 0.7}}
"""

CAMPAIGN = """
campaign: first-look
question: Do tool calls break only when it samples?
stack: mine
factors:
  temperature: ["0", "0.7"]
  concurrency: [40]
baseline: {temperature: "0.7", concurrency: 40}
workload: {scenario: tool-dialogue, sessions: 40, rounds: 4}
schedule: {blocks: BLOCKS, order_seed: 1, restart: when_needed}
"""

HYPOTHESIS = """
hypotheses:
  - id: sampling
    claim: Without sampling nothing breaks.
    arm: {temperature: "0", concurrency: 40}
    versus: baseline
    predict: corrupt == 0
    tolerate: 0.05
"""


def unrestarted_configs(folder: Path, *, blocks: int, hypothesis: str = HYPOTHESIS) -> str:
    """The folder, with the stack `mine` and the campaign `first-look`."""
    for part in ("stacks", "campaigns"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    campaign = CAMPAIGN.replace("BLOCKS", str(blocks)) + hypothesis
    (folder / "stacks" / "mine.yaml").write_text(STACK, "utf-8")
    (folder / "campaigns" / "first-look.yaml").write_text(campaign, "utf-8")
    return str(folder)
