"""How the assessment of a plan is said to people, at a terminal and on a page alike."""

from collections.abc import Iterator, Sequence

from runner.evidence.number_words import counted_text, plural_of, rho_text, share_text
from runner.evidence.plan_assessment import HypothesisPlan, Unanswerable
from runner.evidence.planner import ENOUGH_POWER, MAX_RUNS, ComparisonPlan, PlanAssessment
from runner.evidence.run_cost import Cost
from runner.evidence.wording import duration_text, rounded


def assessment_lines(each: HypothesisPlan) -> Iterator[str]:
    found, plan = each.assessment, each.plan
    yield f"planned: {each.after.runs} + {each.before.runs} runs; {_cost_text(each.cost, each)}"
    shared = plan.runs_after < each.after.runs or plan.runs_before < each.before.runs
    if shared:
        yield (
            f"runs that share a launch count as one: {plan.runs_after} + {plan.runs_before} "
            f"{plural_of(plan.unit)} of {plan.sessions:,} sessions"
        )
    yield from _needed_lines(each)
    yield _effect_line(plan, found)
    for shortcoming in found.shortcomings:
        yield f"CANNOT ANSWER: {shortcoming}"


def unanswerable_line(each: Unanswerable, *, command: str) -> str:
    """`command` says more."""
    return f"hypothesis {each.slug}: CANNOT ANSWER: {each.shortcoming}; `{command}` says more"


def closing_line(assessed: Sequence[HypothesisPlan]) -> str | None:
    """One sentence on the whole plan; None where it has no hypothesis."""
    if not assessed:
        return None
    unable = [each.hypothesis.id for each in assessed if not each.assessment.can_answer]
    shared = "" if len(assessed) == 1 else f" Each is taken alone; {len(assessed)} share alpha."
    if not unable:
        return f"This plan can answer {_all(assessed)}.{shared}"
    some = _all(assessed) if len(assessed) == 1 else f"{len(unable)} of {_all(assessed)}"
    return f"This plan cannot answer {some}: {', '.join(unable)}.{shared}"


def _all(assessed: Sequence[HypothesisPlan]) -> str:
    return "its hypothesis" if len(assessed) == 1 else f"its {len(assessed)} hypotheses"


def _needed_lines(each: HypothesisPlan) -> Iterator[str]:
    found, plan = each.assessment, each.plan
    clean = found.clean_runs_needed
    effect = f"from {share_text(plan.before_rate)} to {share_text(plan.after_rate)}"
    runs, units = each.runs_to_show, plural_of(plan.unit)
    if runs is not None:
        enough = f"{counted_text(runs, plan.unit)} an arm ({runs * plan.sessions:,} sessions)"
    else:
        is_fall = plan.after_rate < plan.before_rate
        none = f"no number of {units} suffices"
        enough = f"more than {MAX_RUNS} {units} an arm" if is_fall else none
    of_clean = (
        ""
        if clean is None
        else f"{counted_text(clean, plan.unit)} ({clean * plan.sessions:,} sessions) without a "
        f"corrupt one for {share_text(each.hypothesis.tolerate)}; "
    )
    yield (
        f"needed: {of_clean}{enough} to show "
        f"a fall {effect} with {share_text(ENOUGH_POWER)} chance (ICC {rho_text(found.rho)})"
    )
    if each.cost_needed is not None:
        yield f"needed in all: {_cost_text(each.cost_needed, each)}"


def _effect_line(plan: ComparisonPlan, found: PlanAssessment) -> str:
    chance = f"the predicted one with {share_text(found.power)} chance"
    if plan.runs_share_launches:
        chance += f" in {plan.runs_after} + {plan.runs_before} {plural_of(plan.unit)}"
    if found.smallest_effect is None:
        return f"smallest detectable effect: none from {share_text(plan.before_rate)}; {chance}"
    return (
        f"smallest detectable effect: from {share_text(plan.before_rate)} to "
        f"{share_text(found.smallest_effect)}; {chance}"
    )


def _cost_text(cost: Cost, each: HypothesisPlan) -> str:
    parts = [counted_text(cost.launches, "restart"), f"{cost.sessions:,} sessions"]
    parts.append(f"about {duration_text(cost.wall_s or 0.0)}")
    if each.gpus:
        parts.append(
            f"{rounded(cost.gpu_minutes or 0.0)} GPU minutes at {counted_text(each.gpus, 'GPU')}"
        )
    return ", ".join(parts)
