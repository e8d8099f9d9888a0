"""Looks for four known causes with the testbed's engine in process: real wrong bytes, no server.

    python -m tests.bench.reduction_engine [CAUSE ...]

Each pair of arms differs in the cause and in switches that have nothing to do with it. Time is
counted in engine steps, so that what is found does not depend on the machine. It fails where that
is not the known cause. A stalled transfer wedges a server, which is for `reduction_testbed`.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.cause_beliefs import Change
from runner.reduce.factor_search import NothingToReduce
from runner.reduce.reduction import (
    Question,
    Reduced,
    RunSandwich,
    RunTrial,
    SandwichRuns,
    Seen,
    next_of,
)
from runner.reduce.standing import StandingRule
from runner.reduce.trial import Sandwich, Trial
from runner.testbed.causal_arms import INTACT, SMALL
from runner.testbed.closed_loop import ClosedLoop
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel, load_model
from runner.testbed.scripted_dialogues import draw_dialogues
from runner.testbed.vocabulary import load_vocabulary

CONCURRENCY = 24

Switches = Mapping[str, Any]

_KEYS = ({"index_k_dtype": "fp8"}, {"index_k_dtype": "bf16"})
_MIRROR = ({"enable_hierarchical_cache": False}, {"enable_hierarchical_cache": True})
_RELEASE = ({"decode_kv_release": "deferred"}, {"decode_kv_release": "immediate"})
_INNOCENT = {
    "detokenizer_states": ({"detokenizer_max_states": 65_536}, {"detokenizer_max_states": 64}),
    "parser": ({"tool_call_parser": "strict"}, {"tool_call_parser": "sglang"}),
}
_LATE = {
    "slow_transfer_every": 8,
    "slow_transfer_s": 0.3,
    "disaggregation_waiting_timeout": 0.15,
    "max_running_requests": 12,
}


@dataclass(frozen=True, slots=True)
class Case:
    """`factors`: to the switches of the clean arm and of the failing one."""

    factors: Mapping[str, tuple[Switches, Switches]]
    cause: Change
    sessions: int = 24


CASES = {
    "host-pool": Case(
        {
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "host_pool": ({"host_index_bytes": "dtype"}, {"host_index_bytes": "fp8"}),
            "kv_release": _RELEASE,
            **_INNOCENT,
        },
        frozenset({"index_keys", "hicache", "host_pool"}),
    ),
    "state-list": Case(
        {
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "state_list": ({}, {"state_pages_short": 1}),
            "kv_release": _RELEASE,
            **_INNOCENT,
        },
        frozenset({"state_list"}),
    ),
    "freed-pages": Case(
        {
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "kv_release": _RELEASE,
            "transfers": ({}, _LATE),
            **_INNOCENT,
        },
        frozenset({"kv_release", "transfers"}),
    ),
    "gate": Case(
        {
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "gate": ({"load_back_gate": "all"}, {"load_back_gate": "kv_only"}),
            "kv_release": _RELEASE,
        },
        frozenset({"index_keys", "hicache", "gate"}),
        sessions=48,
    ),
}


class Engine:
    """Plays the arms of one case; the number of a run is the seed of its dialogues."""

    def __init__(self, case: Case, model: FusedModel) -> None:
        self._case = case
        self._model = model

    def run(self, change: Change, number: int) -> LaunchCounts:
        switches = {**INTACT, **SMALL.options}
        for name, (clean, failing) in self._case.factors.items():
            switches |= failing if name in change else clean
        loop = ClosedLoop(
            self._model,
            replace(LaunchOptions(), **switches),
            concurrency=CONCURRENCY,
            dialogues=draw_dialogues(
                load_vocabulary(),
                self._case.sessions,
                seed=number,
                first_prompt=SMALL.first_prompt,
            ),
            seed=number,
            patience_s=SMALL.patience_s,
        )
        outcomes = loop.run().outcomes
        return LaunchCounts(outcomes["right"], outcomes["corrupt"], outcomes["error"])


def look_for(case: Case, engine: Engine) -> tuple[Reduced | NothingToReduce, int]:
    """What is found, and in how many runs."""
    question = Question(factors=list(case.factors), rule=StandingRule(), limits=lambda change: {})
    trials: dict[Trial, list[LaunchCounts]] = {}
    turns: dict[Sandwich, SandwichRuns] = {}
    while True:
        following = next_of(question, Seen(trials, turns))
        if isinstance(following, RunTrial):
            own = trials.setdefault(following.trial, [])
            own.append(engine.run(following.trial.change, len(own)))
            _say(f"  {own[-1]}: {following.why}")
        elif isinstance(following, RunSandwich):
            before = turns.get(following.sandwich, SandwichRuns())
            turns[following.sandwich] = _turns(following, before, engine)
            _say(f"  in turns: {turns[following.sandwich]}")
        else:
            runs = sum(map(len, trials.values()))
            return following, runs + sum(2 * len(each.clean) for each in turns.values())


def _turns(following: RunSandwich, before: SandwichRuns, engine: Engine) -> SandwichRuns:
    """With those that are lacking; their dialogues are such as no trial has played."""
    fresh = [100 + number for number in range(len(before.clean), following.rounds)]
    change = following.sandwich.change
    return SandwichRuns(
        [*before.clean, *(engine.run(frozenset(), number) for number in fresh)],
        [*before.reduced, *(engine.run(change, number) for number in fresh)],
    )


def main(arguments: Sequence[str]) -> int:
    torch.set_num_threads(1)
    model = load_model()
    wrong: list[str] = []
    for name in arguments or CASES:
        case, began_s = CASES[name], time.process_time()
        found, runs = look_for(case, Engine(case, model))
        kept = sorted(found.smallest.change) if isinstance(found, Reduced) else found.because
        is_right = (
            isinstance(found, Reduced)
            and found.smallest.change == case.cause
            and found.smallest.is_decided
            and found.holds is True
        )
        took_s = time.process_time() - began_s
        _say(f"{name}: {len(case.factors)} factors, {runs} runs, {took_s:.0f} s of CPU: {kept}")
        wrong += [] if is_right else [name]
    if wrong:
        _say(f"not as it is known to be: {', '.join(wrong)}")
    return 1 if wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
