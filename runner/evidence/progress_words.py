"""What may be said while runs are open: counts so far and processes that bear being watched.

Progress, never a verdict: the interval takes sessions as independent, which those of a run are not.
"""

from collections.abc import Sequence

from runner.evidence.confidence_sequence import beta_mixture_sequence
from runner.evidence.criteria import CriterionResult
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.elimination_process import elimination_e_value
from runner.evidence.number_words import counted_text, e_text, of_text, share_text
from runner.evidence.run_block_process import run_block_e_value
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import run_pairs
from runner.evidence.verdict_words import violations_text


def progress_sentence(run: LaunchCounts, *, planned: int) -> str:
    """Of one open run."""
    ended = f"Progress: {of_text(run.sessions, planned)} sessions ended, {run.corrupt:,} corrupt"
    silent = f", {run.silent:,} silent" if run.silent else ""
    if run.evidence == 0:
        return f"{ended}{silent}; no session has given evidence yet."
    low, high = beta_mixture_sequence(run.corrupt, run.evidence)
    return (
        f"{ended}{silent}; {share_text(low)} to {share_text(high)} of those with evidence, watched "
        "as independent sessions. No verdict."
    )


def evidence_so_far(
    after: Sequence[LaunchCounts],
    before: Sequence[LaunchCounts],
    *,
    rule: DecisionRule,
    with_direction: bool = True,
) -> str:
    """Of the finished runs: how far the processes that may confirm have come.

    Without the direction no table of e-values is made, which takes seconds for large runs.
    """
    bar, direction_bar = 1 / rule.alpha_of_direction, rule.direction_bar
    eliminated = elimination_e_value(after, p_max=rule.p_max, rho=rule.rho_max)
    runs = f"{counted_text(len(after), 'run')} and {len(before):,} of the arm compared with"
    said = (
        f"Progress after {runs}: for at most {share_text(rule.p_max)} left "
        f"{e_text(eliminated)} of {bar:.0f}"
    )
    if not with_direction:
        return f"{said}. No verdict."
    pairs = run_pairs(after, before)
    direction = run_block_e_value(pairs, alternatives=rule.alternatives, rho_max=rule.rho_max)
    return (
        f"{said}, for less corruption than there {e_text(direction)} of {direction_bar:.0f}. "
        "No verdict."
    )


def failed_so_far(criteria: Sequence[CriterionResult], *, runs: int) -> str:
    """A criterion that has failed stays so, whatever the runs that are open will show."""
    return (
        f"Progress after {counted_text(runs, 'run')}: {violations_text(criteria)}, so that the "
        "prediction has failed already. How the arms compare is open."
    )
