"""The sentence on direction: fewer, more or unclear, and on what it rests."""

from db.vocabulary import Direction
from runner.evidence.arm_comparison import (
    ArmComparison,
    ArmTotals,
    best_clusters,
    worst_clusters,
)
from runner.evidence.clustered_difference import clustered_difference
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.direction_strength import direction_e_values, direction_p
from runner.evidence.launch_words import Unit
from runner.evidence.number_words import (
    confidence_text,
    e_text,
    of_text,
    p_text,
    plural_of,
    points_text,
    rho_text,
    share_text,
)
from runner.evidence.unreproduced import Unreproduced, shown_text
from runner.evidence.verdict_decision import Decision, ReasonCode


def direction_sentence(
    comparison: ArmComparison,
    decision: Decision,
    *,
    rule: DecisionRule,
    unit: Unit,
    unreproduced: Unreproduced | None = None,
) -> str:
    after, before = comparison.after, comparison.before
    if decision.direction is Direction.LOWER:
        worst = after.corrupt + after.silent
        counts = f"{of_text(worst, after.sessions)} v {of_text(before.corrupt, before.sessions)}"
        silent = ", with every silent session counted as corrupt" if after.silent else ""
        shown = _shown(comparison, decision, rule=rule, lower=True)
        fragile = _fragile(comparison, decision, rule=rule, unit=unit)
        return f"Corruption was lower ({counts}; {shown}){silent}.{fragile}"
    if decision.direction is Direction.HIGHER:
        worst = before.corrupt + before.silent
        counts = f"{of_text(after.corrupt, after.sessions)} v {of_text(worst, before.sessions)}"
        is_silent = after.silent + before.silent > 0
        silent = ", even counting every silent session in the change's favour" if is_silent else ""
        shown = _shown(comparison, decision, rule=rule, lower=False)
        fragile = _fragile(comparison, decision, rule=rule, unit=unit)
        return f"Corruption was higher after the change ({counts}; {shown}){silent}.{fragile}"
    return _unclear(comparison, decision, rule=rule, unit=unit, unreproduced=unreproduced)


def _shown(
    comparison: ArmComparison, decision: Decision, *, rule: DecisionRule, lower: bool
) -> str:
    """The strength of the claim; an interval of the difference where runs repeat."""
    if rule.ending is Ending.DECIDED:
        return e_text(direction_e_values(comparison, rule=rule)[0 if lower else 1])
    p = p_text(comparison.p_lower if lower else comparison.p_higher)
    if rule.ending is Ending.TWO_LOOKS:
        both = direction_p(comparison, rule=rule)
        p = f"{p_text(both.lower if lower else both.higher)} over both planned looks"
    if decision.adjusted is not None:
        p += f", adjusted {p_text(decision.adjusted.lower if lower else decision.adjusted.higher)}"
    if comparison.tipping is not None:
        return f"{p} at ICC {rho_text(comparison.rho)}"
    after, before = comparison.after, comparison.before
    first = worst_clusters(after) if lower else best_clusters(after)
    second = best_clusters(before) if lower else worst_clusters(before)
    # Two-sided at twice alpha: the interval that belongs to a one-sided claim.
    confidence = 1 - 2 * rule.alpha_of_direction
    interval = clustered_difference(first, second, rho=comparison.rho, confidence=confidence)
    gap = sum(c.k for c in first) / after.sessions - sum(c.k for c in second) / before.sessions
    text = f"difference {points_text(gap, interval)} at {confidence_text(confidence)}, {p}"
    excludes_zero = interval.high < 0 if lower else interval.low > 0
    return text if excludes_zero else f"{text}; the interval alone does not exclude zero"


def _fragile(
    comparison: ArmComparison, decision: Decision, *, rule: DecisionRule, unit: Unit
) -> str:
    if comparison.tipping is None or not _is_one_test(decision, rule):
        return ""
    return (
        f" Above an ICC of {rho_text(comparison.tipping)} it would not show; "
        f"{plural_of(unit.noun)} repeated in both arms measure that."
    )


def _unclear(
    comparison: ArmComparison,
    decision: Decision,
    *,
    rule: DecisionRule,
    unit: Unit,
    unreproduced: Unreproduced | None,
) -> str:
    after, before = comparison.after, comparison.before
    code = next(code for code in decision.codes if code.startswith("direction:"))
    if code is ReasonCode.DIRECTION_STOPPED_EARLY:
        return (
            "Not shown: a run that ends at its first corrupt session gives no usable rate, so "
            "that neither fewer nor more can be said."
        )
    if code is ReasonCode.DIRECTION_NOT_REPRODUCED:
        return _not_reproduced(before, unreproduced)
    if code is ReasonCode.DIRECTION_CENSORING:
        return (
            f"No improvement shown, because {_silent_text(after, before)}, and what they were "
            f"would decide the answer. The rate lies {_bounds(after)}, in the arm compared with "
            f"{_bounds(before)}."
        )
    rates = f"{of_text(after.corrupt, after.sessions)} v {of_text(before.corrupt, before.sessions)}"
    if rule.ending is Ending.DECIDED:
        lower, higher = direction_e_values(comparison, rule=rule)
        strength = (
            f"{e_text(lower)} for fewer, {e_text(higher)} for more, of {rule.direction_bar:.0f}"
        )
    else:
        p = direction_p(comparison, rule=rule)
        lower, higher = p.lower, p.higher
        strength = f"{p_text(lower)} for fewer, {p_text(higher)} for more"
    if decision.adjusted is not None:
        lower, higher = decision.adjusted.lower, decision.adjusted.higher
        strength += f"; adjusted {p_text(lower)} and {p_text(higher)}"
    single = _single_run(comparison, decision, rule=rule, unit=unit)
    return f"No change shown: {rates} corrupt ({strength}).{single}"


def _is_one_test(decision: Decision, rule: DecisionRule) -> bool:
    """Whether one unadjusted test decided, to which alone the tipping correlation belongs."""
    return rule.ending not in (Ending.DECIDED, Ending.TWO_LOOKS) and decision.adjusted is None


def _single_run(
    comparison: ArmComparison, decision: Decision, *, rule: DecisionRule, unit: Unit
) -> str:
    if comparison.tipping is None or not _is_one_test(decision, rule):
        return ""
    return (
        f" It would show only if the sessions of a {unit.noun} are nearly independent (tipping ICC "
        f"{rho_text(comparison.tipping)}); {plural_of(unit.noun)} repeated in both arms measure "
        "that."
    )


def _not_reproduced(before: ArmTotals, found: Unreproduced | None) -> str:
    text = (
        f"The arm compared with did not fail either ({of_text(before.corrupt, before.sessions)}): "
        "a removed fault and an absent one look alike here."
    )
    if found is None:
        return f"{text} First reproduce it there."
    if found.has_played_enough:
        return f"{text} {shown_text(found)}."
    return (
        f"{text} First reproduce it: {found.sessions_needed:,} sessions there would show it with "
        "95\u2009% probability."
    )


def _silent_text(after: ArmTotals, before: ArmTotals) -> str:
    own = f"{of_text(after.silent, after.sessions)} sessions gave no evidence"
    other = f"{of_text(before.silent, before.sessions)}"
    if not before.silent:
        return own
    if not after.silent:
        return f"{other} sessions of the arm compared with gave no evidence"
    return f"{own}, and {other} in the arm compared with"


def _bounds(arm: ArmTotals) -> str:
    low, high = arm.bounds
    if low.count == high.count:
        return f"at {share_text(low.value)}"
    return f"between {share_text(low.value)} and {share_text(high.value)}"
