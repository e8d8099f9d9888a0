"""Looks for five known causes on the embedded stack by `decisive reduce`'s own parts, for real.

    python -m tests.bench.reduction_testbed STORE_URL [CAUSE ...]

Each pair of arms differs in the cause and in suspects that have nothing to do with it. Interrupted,
the same command goes on. It fails where what was found is not the known cause.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from db.store import Store, open_store
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.stack_file import load_stack
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.campaign.yaml_source import parse_yaml
from runner.execute.attended_run import AttendedEnd, run_attended
from runner.execute.progress import SilentProgress
from runner.reduce.account import account_lines, is_shown, step_line
from runner.reduce.campaign_reduction import Before, Reduction, ReductionEnd
from runner.reduce.event_counts import Flips
from runner.reduce.reduction import Reduced
from runner.reduce.standing import WEDGE_RULE, StandingRule
from runner.reduce.trial_campaign import Ends

STACK = Path(__file__).parent / "suspects" / "suspects.yaml"

CAMPAIGN = """
campaign: suspects-{name}
question: Which of these suspects is it?
stack: suspects
factors:
{factors}
  concurrency: [{sessions}]
workload:
  sessions: {sessions}
  rounds: 4
  context_tokens: 140
  max_tokens: 400
  deadlines: {{connect_s: 30, first_token_s: 90, no_progress_s: 90, session_s: 400}}
  tool_latency: {{median_ms: 20, sigma: 1.2}}
schedule: {{blocks: 1, order_seed: 1, restart: every_run}}
corrupt: [leak, no_tool, malformed, wrong, degenerate]
longest_pause_s: 15
"""


@dataclass(frozen=True, slots=True)
class Case:
    """`levels`: factor to (level of the clean arm, level of the failing one)."""

    levels: Mapping[str, tuple[str, str]]
    cause: frozenset[str]
    flips: Flips = Flips.CORRUPT
    sessions: int = 24


_KEYS, _MIRROR = ("fp8", "bf16"), ("off", "on")
_RELEASE, _BATCH = ("deferred", "immediate"), ("4", "1")
_SMALL = {"device_pages": ("66", "66"), "prefill_batch": ("1", "1")}
_RIGHT_POOL = {"host_pool": ("dtype-aware", "dtype-aware")}
CASES = {
    "state-list": Case(
        {
            "device_pages": ("264", "66"),
            "prefill_batch": _BATCH,
            "index_keys": _KEYS,
            "state_list": ("whole", "one-short"),
            "kv_release": _RELEASE,
        },
        frozenset({"state_list"}),
        sessions=10,
    ),
    "stalled-transfer": Case(
        {
            "prefill_batch": _BATCH,
            "index_keys": _KEYS,
            "kv_release": _RELEASE,
            "transfers": ("prompt", "stalling"),
        },
        frozenset({"transfers"}),
        Flips.WEDGE,
        sessions=12,
    ),
    "freed-pages": Case(
        {
            **_SMALL,
            **_RIGHT_POOL,
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "kv_release": _RELEASE,
            "transfers": ("prompt", "late"),
        },
        frozenset({"kv_release", "transfers"}),
    ),
    "host-pool": Case(
        {
            **_SMALL,
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "host_pool": ("dtype-aware", "fp8-sized"),
            "gate": ("all", "all"),
            "kv_release": _RELEASE,
        },
        frozenset({"index_keys", "hicache", "host_pool"}),
    ),
    "gate": Case(
        {
            **_SMALL,
            **_RIGHT_POOL,
            "index_keys": _KEYS,
            "hicache": _MIRROR,
            "gate": ("all", "kv_only"),
            "kv_release": _RELEASE,
        },
        frozenset({"index_keys", "hicache", "gate"}),
        sessions=40,
    ),
}


def main(arguments: Sequence[str]) -> int:
    url, *chosen = arguments
    wrong: list[str] = []
    with open_store(url) as store:
        for name in chosen or CASES:
            end = look_for(name, CASES[name], store)
            if end.cut_by is not None:
                return 130
            is_right = isinstance(end.found, Reduced) and is_shown(end)
            if not is_right or end.found.smallest.change != CASES[name].cause:  # type: ignore[union-attr]
                wrong.append(name)
    if wrong:
        sys.stdout.write(f"not as it is known to be: {', '.join(wrong)}\n")
    return 1 if wrong else 0


def look_for(name: str, case: Case, store: Store) -> ReductionEnd:
    stack = load_stack(STACK)
    campaign = _campaign(name, case)
    check_campaign_on_stack(campaign, stack)
    clean, failing = (
        {**{factor: pair[at] for factor, pair in case.levels.items()}, "concurrency": case.sessions}
        for at in (0, 1)
    )
    ends = Ends(
        campaign=campaign,
        clean=clean,
        failing=failing,
        sessions=case.sessions,
        flips=case.flips,
        may_restart=True,
    )
    rule = WEDGE_RULE if case.flips is Flips.WEDGE else StandingRule()
    reduction = Reduction(ends=ends, stack=stack, store=store, rule=rule, lowers=False)
    sys.stdout.write(f"## {name}: {len(ends.factors)} factors, known: {sorted(case.cause)}\n")

    def play(trial: Campaign) -> AttendedEnd:
        return run_attended(trial, stack, store=store, progress=SilentProgress(), said=_tell)

    def told(before: Before) -> None:
        _tell(step_line(before))

    end = reduction.run(play, told=told)
    for line in account_lines(end, ends):
        _tell(line)
    return end


def _campaign(name: str, case: Case) -> Campaign:
    lines = [
        f"  {factor}: [{', '.join(dict.fromkeys(pair))}]" for factor, pair in case.levels.items()
    ]
    text = CAMPAIGN.format(name=name, factors="\n".join(lines), sessions=case.sessions)
    return campaign_of(parse_yaml(str(STACK), text))


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
