"""The verdict on two counted arms as lines for people and as JSON for scripts."""

from collections.abc import Iterator, Sequence
from typing import Any

from db.vocabulary import Availability, Direction
from runner.cli.console import say
from runner.errors import UsageError
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.campaign_verdict import CampaignVerdict, Question, judge_hypothesis
from runner.evidence.comparison_numbers import comparison_numbers
from runner.evidence.number_words import p_text, points_text
from runner.evidence.rates import Interval
from runner.evidence.run_cost import Cost
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.wording import corrupt_text, evidence_text

# An exact test holds a table of both arms' sessions in memory: 10 million cells take seconds.
MOST_CELLS = 10_000_000

_FAILED, _NO_CHANGE = "The prediction failed: ", "No change shown: "
_NOT_COMPARED = "Not compared: "
_ANSWERED = 4
"""Lines of a verdict that a comparison says in its own words: the headline and three answers."""
_DIRECTION_WORDS = {
    Direction.LOWER: "LESS CORRUPTION",
    Direction.HIGHER: "MORE CORRUPTION",
    Direction.UNCLEAR: "NO DIFFERENCE SHOWN",
}


def judge_counts(question: Question) -> CampaignVerdict:
    """Raises UsageError where the arms are too large for exact tests."""
    after, before = question.arm.counts.all, question.versus.counts.all
    if after * before > MOST_CELLS:
        raise UsageError(
            f"{after:,} and {before:,} sessions are too many for exact tests: their product must "
            f"stay below {MOST_CELLS:,}"
        )
    return judge_hypothesis(question)


def say_counted_verdict(question: Question, verdict: CampaignVerdict) -> None:
    """Both arms with their denominators, what independent sessions would give, the verdict."""
    for line in (*_arm_lines(question, verdict), *verdict_lines(verdict)):
        say(line)


def say_comparison(
    question: Question, verdict: CampaignVerdict, *, roles: Sequence[str] = ()
) -> None:
    """For arms of which nobody predicted anything: what came of comparing them stands first, and
    the prediction that a verdict needs is no headline. `roles` says what the arms are.
    """
    for line in (
        _comparison_line(verdict),
        *roles,
        *_arm_lines(question, verdict),
        *_answer_lines(question, verdict),
        *verdict_lines(verdict)[_ANSWERED:],
    ):
        say(line)


def verdict_json(verdict: CampaignVerdict) -> dict[str, Any]:
    """Rates and p-values stand in `numbers`, which is None where the arms were not compared."""
    answers = verdict.answers
    return {
        "headline": str(verdict.headline),
        "sentence": verdict.sentence,
        "elimination": str(verdict.elimination),
        "direction": str(verdict.direction),
        "availability": str(verdict.availability),
        "answers": {
            "elimination": answers.elimination,
            "direction": answers.direction,
            "availability": answers.availability,
        },
        "reasons": sorted(verdict.reason_codes),
        "basis": verdict.basis,
        "caveats": [caveat.text for caveat in verdict.caveats],
        "next": [{"text": each.text, "cost": cost_json(each.cost)} for each in verdict.experiments],
        "numbers": None if verdict.comparison is None else comparison_numbers(verdict.comparison),
        "inputs": verdict.inputs,
        "method": verdict.method,
    }


def cost_json(cost: Cost) -> dict[str, Any]:
    return {
        "launches": cost.launches,
        "sessions": cost.sessions,
        "wall_s": None if cost.wall_s is None else round(cost.wall_s, 1),
        "gpu_minutes": None if cost.gpu_minutes is None else round(cost.gpu_minutes, 1),
    }


def _comparison_line(verdict: CampaignVerdict) -> str:
    answers = verdict.answers
    if verdict.comparison is None:
        return f"NOT COMPARED: {answers.direction.removeprefix(_NOT_COMPARED)}"
    said = answers.direction.removeprefix(_NO_CHANGE)
    line = f"{_DIRECTION_WORDS[verdict.direction]}: {said}"
    return f"{line} {answers.availability}" if _is_less_available(verdict) else line


def _answer_lines(question: Question, verdict: CampaignVerdict) -> Iterator[str]:
    """What the first line does not say."""
    if verdict.comparison is None:
        return
    gone = verdict.answers.elimination.replace(_FAILED, "No: ", 1)
    yield f"Is {question.arm.name} free of corruption? {gone}"
    if not _is_less_available(verdict):
        yield f"More silence than there? {verdict.answers.availability}"


def _is_less_available(verdict: CampaignVerdict) -> bool:
    return verdict.availability is Availability.WORSE


def _arm_lines(question: Question, verdict: CampaignVerdict) -> list[str]:
    lines = [f"{arm.name}: {_arm_text(arm)}" for arm in (question.arm, question.versus)]
    independent = _independent_line(verdict)
    return [*lines, independent] if independent else lines


def _arm_text(arm: ArmEvidence) -> str:
    counts = arm.counts
    return f"{corrupt_text(counts)}; {evidence_text(counts)}" if counts.all else "no sessions"


def _independent_line(verdict: CampaignVerdict) -> str:
    """Empty where sessions were silent: a difference of such rates says nothing."""
    comparison = verdict.comparison
    if comparison is None or comparison.after.silent or comparison.before.silent:
        return ""
    numbers = comparison_numbers(comparison)
    independent, difference = numbers["independent"], numbers["difference"]
    points = points_text(difference["value"], Interval(*difference["newcombe"]))
    return (
        f"If all sessions were independent, which decides nothing: {points}; "
        f"Boschloo {p_text(independent['boschloo_less'])} for fewer, "
        f"{p_text(independent['boschloo_greater'])} for more; "
        f"Fisher {p_text(independent['fisher_less'])} for fewer."
    )
