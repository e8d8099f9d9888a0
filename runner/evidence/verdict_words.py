"""The sentences of a verdict, by templates; each says what its answer licenses and nothing else.

Three answers, one sentence each, and the sentence of the headline, which is made of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from db.vocabulary import Availability, Elimination, Headline
from runner.campaign.prediction import CORRUPT, SILENT, WEDGES, Prediction
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.direction_words import direction_sentence
from runner.evidence.launch_words import Unit
from runner.evidence.number_words import (
    confidence_text,
    counted_text,
    of_text,
    p_text,
    rho_text,
    share_text,
)
from runner.evidence.silent_sessions import SilentPolicy
from runner.evidence.unreproduced import Unreproduced
from runner.evidence.verdict_decision import Decision, ReasonCode, is_of_corruption

HEADLINE_WORDS = {
    Headline.CONFIRMED: "Confirmed",
    Headline.IMPROVED_NOT_ELIMINATED: "Improved, not eliminated",
    Headline.WORSE: "Worse",
    Headline.REFUTED: "Refuted",
    Headline.INCONCLUSIVE: "Inconclusive",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """One sentence to each question, and the one under the headline."""

    headline: str
    elimination: str
    direction: str
    availability: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What the sentences are about."""

    prediction: Prediction
    criteria: tuple[CriterionResult, ...]
    comparison: ArmComparison
    decision: Decision
    rule: DecisionRule
    scope: str
    unit: Unit
    more_clean_runs: int | None = None  # that elimination would need
    unreproduced: Unreproduced | None = None


def answers_of(matter: Matter) -> Answers:
    direction = direction_sentence(
        matter.comparison,
        matter.decision,
        rule=matter.rule,
        unit=matter.unit,
        unreproduced=matter.unreproduced,
    )
    return Answers(
        headline=_headline(matter, direction=direction),
        elimination=_elimination(matter),
        direction=direction,
        availability=availability_sentence(matter.comparison),
    )


def violations_text(criteria: Sequence[CriterionResult]) -> str:
    """`5 corrupt sessions and 168 wedges were seen`."""
    nouns = {CORRUPT: "corrupt session", SILENT: "silent session", WEDGES: "wedge"}
    failed = [result for result in criteria if result.state is CriterionState.FAILED]
    seen = [
        counted_text(result.seen or 0, nouns.get(name, f"{name} session"))
        for result in failed
        for name in [result.criterion.name]
    ]
    verb = "was" if len(failed) == 1 and failed[0].seen == 1 else "were"
    return f"{' and '.join(seen)} {verb} seen"


def availability_sentence(comparison: ArmComparison) -> str:
    after, before = comparison.after, comparison.before
    silent = (
        f"{of_text(after.silent, after.sessions)} silent v "
        f"{of_text(before.silent, before.sessions)} ({p_text(comparison.p_silent_up)})"
    )
    if not comparison.silence_rose:
        return f"Availability is not shown worse: {silent}."
    clean = (
        f"{of_text(after.clean, after.sessions)} ended clean v "
        f"{of_text(before.clean, before.sessions)} ({p_text(comparison.p_clean_down)})"
    )
    return (
        f"Availability is worse: {silent}; {clean}. A silent session cannot show corruption, so "
        "that none seen may mean none could be seen."
    )


def _headline(matter: Matter, *, direction: str) -> str:
    decision = matter.decision
    if decision.headline is Headline.CONFIRMED:
        parts = [direction if matter.rule.claim is ClaimKind.REDUCE else _confirmed(matter)]
    elif decision.headline is Headline.IMPROVED_NOT_ELIMINATED:
        corrupt = max(matter.comparison.after.corrupt, *_seen_corrupt(matter))
        verb = "was" if corrupt == 1 else "were"
        seen = f"But {counted_text(corrupt, 'corrupt session')} {verb} seen, so it is not"
        parts = [direction, f"{seen} eliminated."]
    elif decision.headline is Headline.WORSE:
        parts = [direction]
    elif decision.headline is Headline.REFUTED:
        failed = f'The prediction "{matter.prediction}" failed: {_failed_text(matter)}.'
        parts = [failed, f"Whether corruption changed: {_lowered(direction)}"]
    else:
        parts = [f'The prediction "{matter.prediction}" did not fail, and is not confirmed.']
        if decision.elimination is not Elimination.CONFIRMED:
            parts.append(_elimination(matter))
        parts.append(direction)
    if decision.availability is Availability.WORSE:
        parts.append(availability_sentence(matter.comparison))
    return " ".join(parts)


def _seen_corrupt(matter: Matter) -> tuple[int, ...]:
    """Also in runs that were cut off, which have no rate."""
    return (0, *(each.seen or 0 for each in matter.criteria if is_of_corruption(each.criterion)))


def _confirmed(matter: Matter) -> str:
    comparison = matter.comparison
    after, before = comparison.after, comparison.before
    runs = counted_text(len(after.launches), matter.unit.noun)
    number = "No corruption" if after.corrupt == 0 else f"{after.corrupt:,} corrupt"
    scope = f" ({matter.scope})" if matter.scope else ""
    beyond = matter.scope or "this arm and load"
    return (
        f"{number} in {after.evidence:,} sessions that gave evidence over {runs}{scope}; the arm "
        f"compared with had {of_text(before.corrupt, before.evidence)} in this campaign. "
        f"At {confidence_text(matter.rule.confidence)} confidence the residual rate is at most "
        f"{share_text(comparison.limits.used)} (ICC {rho_text(comparison.rho)} assumed). "
        f"This does not show that the rate is zero, nor anything beyond {beyond}."
    )


def _failed_text(matter: Matter) -> str:
    if any(result.state is CriterionState.FAILED for result in matter.criteria):
        return violations_text(matter.criteria)
    after = matter.comparison.after
    return (
        f"even with every silent session clean, {of_text(after.corrupt, after.sessions)} lies "
        f"above the predicted rate of {share_text(matter.rule.predicted_rate or 0.0)}"
    )


def _elimination(matter: Matter) -> str:
    comparison, rule = matter.comparison, matter.rule
    after, limits = comparison.after, comparison.limits
    if matter.decision.elimination is Elimination.REFUTED:
        return f"The prediction failed: {_failed_text(matter)}."
    if matter.decision.elimination is Elimination.CONFIRMED:
        return (
            f"{of_text(after.corrupt, after.evidence)} leaves a rate of at most "
            f"{share_text(limits.used)}, tolerated are {share_text(rule.p_max)}."
        )
    code = matter.decision.codes[0]
    if code is ReasonCode.ELIMINATION_NOT_COUNTED:
        return "Not confirmed: wedges were not counted, so that their absence cannot be claimed."
    if code is ReasonCode.ELIMINATION_NOT_PREDICTED:
        return "Not confirmed: the prediction says nothing of corruption."
    if code is ReasonCode.ELIMINATION_CENSORING:
        return (
            f"{of_text(after.silent, after.sessions)} sessions gave no evidence: the rate may be "
            f"up to {share_text(limits.used)}, and at most {share_text(limits.evidence_only)} only "
            "if silence has nothing to do with corruption."
        )
    above = f"only rates above {share_text(limits.used)}" if limits.used < 1.0 else "no rate"
    return f"{of_text(after.corrupt, after.evidence)} excludes {above}{_needed(matter)}."


def _needed(matter: Matter) -> str:
    if not matter.more_clean_runs:
        return ""
    size = max(launch.sessions for launch in matter.comparison.after.launches)
    runs = counted_text(matter.more_clean_runs, f"more clean {matter.unit.noun}")
    verb = "is" if matter.more_clean_runs == 1 else "are"
    worst = matter.comparison.limits.policy is SilentPolicy.WORST_CASE
    silence = "while silent sessions count as corrupt " if worst else ""
    return (
        f"; {runs} of {size:,} {verb} needed for {share_text(matter.rule.p_max)} {silence}"
        f"(ICC {rho_text(matter.comparison.rho)})"
    )


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
