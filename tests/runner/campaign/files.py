"""Configuration files for tests: one good campaign and one good stack, and ways to spoil them."""

from pathlib import Path

from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.stack_file import Stack, stack_of
from runner.campaign.yaml_source import parse_yaml

CAMPAIGN = """\
campaign: host-pool
question: Is the host pool the cause?
stack: little
factors:
  keys: [fp8, bf16]
  cache: [off, on]
  pool: {fp8-sized: {}, dtype-aware: {tag: FIXED}}
  concurrency: [1, 80]
exclude:
  - {cache: off, pool: dtype-aware}
  - {keys: fp8, pool: dtype-aware}
baseline: {keys: bf16, cache: on, pool: fp8-sized, concurrency: 80}
workload:
  sessions: {1: 10, 80: 80}
schedule: {blocks: 2, order_seed: 7}
corrupt: [leak, no_tool]
hypotheses:
  - id: pool
    claim: The pool is the cause.
    arm: {keys: bf16, cache: on, pool: dtype-aware, concurrency: 80}
    versus: baseline
    predict: corrupt == 0 and wedges == 0
"""

STACK = """\
stack: little
description: A little server.
model: tiny
may_restart: true
services:
  server:
    controller: process
    command: ["{python}", -m, server, --port, "{port}"]
    server_info: /server_info
    metrics: {dialect: sglang}
    log: process
factors:
  keys:
    fp8: {args: [--keys, fp8], verify: [{server_info: keys, equals: fp8}]}
    bf16: {args: [--keys, bf16], verify: [{server_info: keys, equals: bf16}]}
  cache:
    on: {args: [--cache], exercise: [{counter: hits}]}
    off: {}
  pool:
    fp8-sized: {env: {POOL: fp8}}
    dtype-aware: {env: {POOL: dtype}}
"""


def spoiled(text: str, old: str, new: str) -> str:
    assert old in text, f"nothing to replace: {old!r}"
    return text.replace(old, new, 1)


def written(folder: Path, text: str, *, name: str = "file.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def campaign(text: str = CAMPAIGN) -> Campaign:
    return campaign_of(parse_yaml("file.yaml", text))


def stack(text: str = STACK) -> Stack:
    return stack_of(parse_yaml("stack.yaml", text))
