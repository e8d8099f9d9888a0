"""A configs folder whose stack is the oracle server, for tests of the runner as a whole."""

import json
from collections.abc import Sequence
from pathlib import Path

STACK = """
stack: oracle
description: A server that knows the right answers.
model: oracle
may_restart: true
services:
  server:
    controller: process
    command: ["{{python}}", "-m", "tests.fakes.oracle_server", "--port", "{{port}}"{switches}]
    port: {port}
    server_info: /server_info
    flush_cache: /flush_cache
    metrics: {{path: /metrics, dialect: sglang}}
    log: process
    ready_within_s: 600
factors:
  index_keys:
    fp8:
      args: [--index-k-dtype, fp8]
      verify:
        - {{server_info: internal_states.*.index_k_dtype, equals: fp8}}
        - {{server_info: internal_states.*.memory_usage.index_key_bytes_per_token, equals: 132}}
    bf16:
      args: [--index-k-dtype, bf16, --leak-every, "3"]
      verify:
        - {{server_info: internal_states.*.index_k_dtype, equals: bf16}}
      exercise:
        - {{counter: "sglang:cached_tokens_total", labels: {{cache_source: host}}}}
    mislabelled:
      args: [--index-k-dtype, fp8]
      verify:
        - {{server_info: internal_states.*.index_k_dtype, equals: bf16}}
"""

CAMPAIGN = """
campaign: oracle-test
question: Does the runner see what the server does?
stack: oracle
factors:
  index_keys: [{levels}]
  concurrency: [4]
baseline: {{index_keys: {first}, concurrency: 4}}
workload:
  {{sessions: {sessions}, rounds: 2, context_tokens: 60, max_tokens: 50, deadlines: {deadlines}}}
schedule: {{blocks: {blocks}, order_seed: 3, restart: {restart}}}
corrupt: [leak, no_tool, malformed, wrong, degenerate]
stop: {stop}
on_wedge: {on_wedge}
"""

HYPOTHESIS = """
hypotheses:
  - {{id: first-is-clean, claim: it is clean, arm: {{index_keys: {first}, concurrency: 4}},
     versus: {{index_keys: {last}, concurrency: 4}}, predict: corrupt == 0, tolerate: {tolerate}}}
"""


def write_oracle_configs(
    folder: Path,
    *,
    levels: Sequence[str] = ("fp8", "bf16"),
    switches: Sequence[str] = (),
    sessions: int = 6,
    blocks: int = 1,
    restart: str = "every_run",
    stop: str = "fixed",
    on_wedge: str = "record",
    deadlines: str = "{first_token_s: 60}",
    notify: Sequence[str] = (),
    tolerate: float = 0.05,
    port: int | str = "free",
) -> Path:
    """The folder, with the stack `oracle` and the campaign `oracle-test`.

    With two levels or more it holds a hypothesis: the first one is clean, versus the last.
    """
    (folder / "stacks").mkdir(parents=True, exist_ok=True)
    (folder / "campaigns").mkdir(parents=True, exist_ok=True)
    quoted = "".join(f', "{switch}"' for switch in switches)
    (folder / "stacks" / "oracle.yaml").write_text(
        STACK.format(switches=quoted, port=port), "utf-8"
    )
    campaign = CAMPAIGN.format(
        levels=", ".join(levels),
        first=levels[0],
        last=levels[-1],
        sessions=sessions,
        blocks=blocks,
        restart=restart,
        stop=stop,
        on_wedge=on_wedge,
        deadlines=deadlines,
    )
    if notify:
        campaign += f"notify: {json.dumps(list(notify))}\n"
    if len(levels) > 1:
        campaign += HYPOTHESIS.format(first=levels[0], last=levels[-1], tolerate=tolerate)
    (folder / "campaigns" / "oracle-test.yaml").write_text(campaign, "utf-8")
    return folder
