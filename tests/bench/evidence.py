"""How often verdicts are wrong, and what stopping early saves, by simulation.

python -m tests.bench.evidence [--campaigns N] [--seed S] prints the tables of README.md.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from db.vocabulary import Headline
from runner.campaign.prediction import parse_prediction
from runner.evidence.clean_surplus import compare_without_surplus
from runner.evidence.counts_question import arm_of_counts
from runner.evidence.criteria import check_criteria
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.statistical_power import run_power
from runner.evidence.stopping import advice_between_runs, advice_for_versus, advice_within_run
from runner.evidence.verdict_decision import decide
from tests.bench.evidence_recorded import RecordedArms, read_recorded_arms
from tests.bench.evidence_scenarios import SAVINGS, SCENARIOS
from tests.bench.evidence_world import SESSIONS, Campaign, World, first_corrupt_share, play

PREDICTION = parse_prediction("corrupt == 0 and wedges == 0")
RULE = DecisionRule()
RECORDED = Path(__file__).parent / "evidence_runs.json"
LAUNCH_MIN, DRIVE_MIN = 8.0, 12.0  # of one run; replace by what your stack takes
RUN_MIN = LAUNCH_MIN + DRIVE_MIN
LEVEL_CAMPAIGNS = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()
    for table in (
        _headline_table(options.campaigns, options.seed),
        _level_table(options.seed),
        _recorded_table(options.campaigns, options.seed),
        _saving_table(options.campaigns, options.seed),
        _speed_lines(),
    ):
        for line in table:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        sys.stdout.write("\n")
    took_s = time.perf_counter() - started
    sys.stdout.write(
        f"{options.campaigns} campaigns a line, seed {options.seed}, {took_s:.0f} s.\n"
    )
    return 0


def headline_of(campaign: Campaign, rule: DecisionRule = RULE) -> Headline:
    arm = arm_of_counts("after", campaign.after, wedges=campaign.wedges)
    comparison = compare_without_surplus(
        campaign.after, campaign.before, rule=rule, wedges=campaign.wedges
    )
    return decide(comparison, check_criteria(PREDICTION, arm), rule=rule).headline


def _headline_table(campaigns: int, seed: int) -> Iterator[str]:
    yield from _heading("truth")
    for number, (name, world, after, before) in enumerate(SCENARIOS):
        rng = np.random.default_rng([seed, number])
        found = Counter(
            headline_of(play(world, runs_after=after, runs_before=before, rng=rng))
            for _ in range(campaigns)
        )
        yield _row(f"{name} | {after} v {before}", found, campaigns)


def _level_table(seed: int) -> Iterator[str]:
    """How often the test of direction finds fewer where nothing differs."""
    correlations = (0.0, 0.02, 0.05, 0.1, 0.15)
    yield "| rate, runs an arm | " + " | ".join(f"rho {rho}" for rho in correlations) + " |"
    yield "| --- | " + " | ".join("---" for _ in correlations) + " |"
    for rate in (0.06, 0.15):
        for runs in (1, 2, 3, 4):
            levels = [_level(rate, runs, rho, seed) for rho in correlations]
            yield f"| {rate}, {runs} | " + " | ".join(f"{level:.3f}" for level in levels) + " |"
    yield ""
    yield f"{LEVEL_CAMPAIGNS:,} campaigns each; single runs are judged at a declared rho of 0.05."


def _level(rate: float, runs: int, rho: float, seed: int) -> float:
    return run_power(
        rate,
        rate,
        runs_before=runs,
        runs_after=runs,
        sessions=SESSIONS,
        rho=rho,
        rng=np.random.default_rng([seed, runs]),
        campaigns=LEVEL_CAMPAIGNS,
    )


def _recorded_table(campaigns: int, seed: int) -> Iterator[str]:
    """Runs drawn with replacement from those that the testbed's engine really made."""
    recorded = read_recorded_arms(RECORDED)
    yield f"Resampled from recorded runs ({recorded.about}):"
    yield ""
    yield from _heading("arms")
    for number, (name, after, before) in enumerate(recorded.comparisons):
        rng = np.random.default_rng([seed, 1000 + number])
        found = Counter(
            headline_of(_resampled(recorded, after, before, rng)) for _ in range(campaigns)
        )
        yield _row(f"{name} | 3 v 3", found, campaigns)


def _resampled(
    recorded: RecordedArms, after: str, before: str, rng: np.random.Generator
) -> Campaign:
    drawn = [
        [recorded.arms[arm][i] for i in rng.integers(0, len(recorded.arms[arm]), 3)]
        for arm in (after, before)
    ]
    return Campaign(drawn[0], drawn[1], wedges=3 if after in recorded.wedged else 0)


def _heading(first: str) -> Iterator[str]:
    yield f"| {first} | runs | " + " | ".join(Headline) + " |"
    yield "| --- | --- | " + " | ".join("---" for _ in Headline) + " |"


def _row(name: str, found: Counter[Headline], campaigns: int) -> str:
    shares = [f"{found[each] / campaigns:.3f}" if found[each] else "" for each in Headline]
    return f"| {name} | " + " | ".join(shares) + " |"


def _saving_table(campaigns: int, seed: int) -> Iterator[str]:
    """Against three runs an arm, the default of a campaign, and against the least that would do."""
    yield f"Launch {LAUNCH_MIN:.0f} min, {SESSIONS} sessions {DRIVE_MIN:.0f} min (assumed):"
    yield ""
    yield "| truth | minutes until decided | of 3 + 3 runs | of the least fixed plan | decided |"
    yield "| --- | --- | --- | --- | --- |"
    for number, (name, world, least, rho_max) in enumerate(SAVINGS):
        rng = np.random.default_rng([seed, 2000 + number])
        rule = DecisionRule(ending=Ending.DECIDED, rho_max=rho_max)
        outcomes = [_minutes_until_decided(world, rule, rng) for _ in range(campaigns)]
        minutes = float(np.mean([each for each, _ in outcomes]))
        decided = float(np.mean([each for _, each in outcomes]))
        usual, fewest = (2 * runs * RUN_MIN for runs in (3, least))
        yield (
            f"| {name} | {minutes:.1f} | {minutes / usual:.2f} | {minutes / fewest:.2f} "
            f"({least} + {least}) | {decided:.2f} |"
        )


def _minutes_until_decided(
    world: World, rule: DecisionRule, rng: np.random.Generator, *, most_blocks: int = 8
) -> tuple[float, bool]:
    """Blocks in random order, each arm while the rule still wants it."""
    minutes, after, before = 0.0, [], []
    for _ in range(most_blocks):
        pair = play(world, runs_after=1, runs_before=1, rng=rng)
        versus_rests = advice_for_versus(after, before, rule=rule) is not None
        before_first = not versus_rests and rng.random() < 0.5
        minutes += RUN_MIN if before_first else 0.0
        run = pair.after[0]
        advice = advice_within_run(
            run, sessions_planned=SESSIONS, criterion_failed=run.corrupt > 0, rule=rule
        )
        if advice is not None:
            share = first_corrupt_share(run.corrupt / SESSIONS, rng) or 1.0
            return minutes + LAUNCH_MIN + share * DRIVE_MIN, True
        minutes += RUN_MIN if before_first or versus_rests else 2 * RUN_MIN
        after += pair.after
        before += [] if versus_rests else pair.before
        if advice_between_runs(after, before, rule=rule, wedges=0) is not None:
            return minutes, True
    return minutes, False


def _speed_lines() -> Iterator[str]:
    """Median and slowest of many two-arm verdicts with three runs of eighty an arm."""
    rng = np.random.default_rng(0)
    world = World(rate_after=0.1, rate_before=0.15, rho=0.05, errors=0.02)
    times_s = []
    for _ in range(100):
        campaign = play(world, runs_after=3, runs_before=3, rng=rng)
        began_s = time.perf_counter()
        headline_of(campaign)
        times_s.append(time.perf_counter() - began_s)
    median, slowest = 1000 * float(np.median(times_s)), 1000 * max(times_s)
    yield f"A verdict on 3 + 3 runs of 80: median {median:.0f} ms, slowest {slowest:.0f} ms."


if __name__ == "__main__":
    raise SystemExit(main())
