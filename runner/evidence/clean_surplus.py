"""More clean sessions never weaken a confirmation: what a part of the evidence confirms, all does.

Run rates are compared as equals, so that a clean run of another size adds variance which says
nothing. Where the evidence of the changed arm falls short of a confirmation and its runs differ in
size, it is judged again without some of its clean sessions: to leave those out can only count
against the claim.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from runner.evidence.arm_comparison import (
    ArmComparison,
    ArmTotals,
    best_clusters,
    compare_arms,
    worst_clusters,
)
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES
from runner.evidence.run_rate_test import run_rate_less
from runner.evidence.silent_sessions import LaunchCounts

_MOST_RUNS = 6


def compare_without_surplus(
    after: Sequence[LaunchCounts],
    before: Sequence[LaunchCounts],
    *,
    rule: DecisionRule,
    wedges: int | None,
) -> ArmComparison:
    """The comparison of all evidence, or of a part that confirms where all of it does not.

    `surplus` of the result says how many clean sessions were left out.
    """
    whole = compare_arms(after, before, rule=rule, wedges=wedges)
    if (
        whole.after.corrupt
        or len(whole.before.launches) < RUNS_TO_COMPARE_RATES  # no run rates are compared
        or whole.limits.evidence_only > rule.p_max
        or _confirms(whole, rule)
    ):
        return whole
    for part in _parts(after):
        if not _run_rates_agree(part, whole.before, rule):
            continue
        comparison = compare_arms(part, before, rule=rule, wedges=wedges)
        if _confirms(comparison, rule):
            left_out = whole.after.clean - comparison.after.clean
            return replace(comparison, surplus=left_out)
    return whole


def _confirms(comparison: ArmComparison, rule: DecisionRule) -> bool:
    return (
        comparison.limits.used <= rule.p_max
        and comparison.p_lower <= rule.alpha_of_direction
        and not comparison.silence_rose
    )


def _run_rates_agree(part: Sequence[LaunchCounts], before: ArmTotals, rule: DecisionRule) -> bool:
    """Whether the run rates would carry the claim: the cheaper half of the test, asked first."""
    if min(len(part), len(before.launches)) < RUNS_TO_COMPARE_RATES:
        return True
    first, second = worst_clusters(ArmTotals(tuple(part))), best_clusters(before)
    return run_rate_less(first, second) <= rule.alpha_of_direction


def _parts(launches: Sequence[LaunchCounts]) -> Iterator[tuple[LaunchCounts, ...]]:
    """With fewer spotless launches, then with spotless launches cut to one size; larger first.

    Launches with a silent session stay as they are; of more than _MOST_RUNS spotless ones only
    the largest are tried.
    """
    if len({x.sessions for x in launches}) < 2:
        return
    kept = tuple(x for x in launches if x.silent)
    sizes = sorted((x.clean for x in launches if not x.silent), reverse=True)[:_MOST_RUNS]
    seen = {tuple(sorted((x.clean for x in launches if not x.silent), reverse=True))}
    for chosen in (*_subsets(sizes), *_cut(sizes)):
        if chosen and chosen not in seen:
            seen.add(chosen)
            yield (*kept, *(LaunchCounts(size, 0, 0) for size in chosen))


def _subsets(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for runs in range(len(sizes), 0, -1):
        yield from combinations(sizes, runs)


def _cut(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in dict.fromkeys(sizes):
        as_large = sum(each >= size for each in sizes)
        yield from ((size,) * runs for runs in range(as_large, 0, -1))
