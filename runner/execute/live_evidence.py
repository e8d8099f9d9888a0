"""What is told while a campaign runs, of its open run and of each hypothesis; never a verdict."""

from collections.abc import Mapping, Sequence

from db.campaigns import note_progress
from db.reads.campaigns import VerdictFacts
from db.store import Store
from runner.evidence.counts import counted
from runner.evidence.criteria import CriterionState
from runner.evidence.decision_rule import Ending
from runner.evidence.progress_words import evidence_so_far, failed_so_far, progress_sentence
from runner.evidence.question import checked_criteria
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.verdict_validity import launches_of
from runner.execute.campaign_evidence import CampaignEvidence, gather_evidence
from runner.execute.verdicts import judge_hypotheses, question_of

_MOST_CELLS = 100_000
"""Of a table of e-values that is made for progress alone; a larger one takes many seconds."""


def progress_of(outcomes: Mapping[str, int], *, corrupt: Sequence[str], planned: int) -> str:
    """The sentence of an open run with these outcomes so far."""
    counts = counted(outcomes, corrupt=corrupt)
    run = LaunchCounts(counts.not_corrupt, counts.corrupt, counts.silent)
    return progress_sentence(run, planned=planned)


def get_ready_to_tell_progress() -> None:
    """Imports what `progress_of` needs, which takes a tenth of a second and more.

    Among open streams that would make the reads of all of them late.
    """
    progress_sentence(LaunchCounts(1, 1, 0), planned=2)


def note_evidence_so_far(store: Store, campaign_id: int, arm_position: int) -> tuple[str, ...]:
    """After a run of this arm has ended: what each hypothesis about it bears now, for pages, and
    the verdict as the runs stand. Sentences on what already makes a comparison invalid.

    The first table of e-values of a size takes a second, so that no sessions should run meanwhile.
    """
    evidence = gather_evidence(store, campaign_id)
    arm_id = next(arm.id for arm in evidence.arms if arm.position == arm_position)
    concerned = [x for x in evidence.hypotheses if arm_id in (x.arm_id, x.versus_arm_id)]
    for each in concerned:
        note_progress(store, each.hypothesis_id, _said_of(each, evidence))
    judge_hypotheses(store, campaign_id, about_arm=arm_id)
    said = [_undeclared_between(each, evidence) for each in concerned]
    return tuple(dict.fromkeys(each for each in said if each is not None))


def _undeclared_between(hypothesis: VerdictFacts, evidence: CampaignEvidence) -> str | None:
    """The same at each run, so that it can be told once."""
    first, second = hypothesis.arm_id, hypothesis.versus_arm_id
    differences = evidence.differences(first, second).undeclared
    if not differences:
        return None
    return (
        f"{evidence.arm(first).name} and {evidence.arm(second).name} also differ in "
        f"{', '.join(differences)}, so that comparing them is invalid. Where that follows from a "
        "level, name the setting under `implies` of that level, which begins another campaign"
    )


def _said_of(hypothesis: VerdictFacts, evidence: CampaignEvidence) -> str:
    question = question_of(hypothesis, evidence)
    after, before = (
        launches_of(arm, setting=question.setting) for arm in (question.arm, question.versus)
    )
    criteria = checked_criteria(question)
    if any(each.state is CriterionState.FAILED for each in criteria):
        return failed_so_far(criteria, runs=len(after))
    is_needed = question.rule.ending is Ending.DECIDED
    return evidence_so_far(
        after, before, rule=question.rule, with_direction=is_needed or _is_quick(after, before)
    )


def _is_quick(after: Sequence[LaunchCounts], before: Sequence[LaunchCounts]) -> bool:
    cells = [a.sessions * b.sessions for a, b in zip(after, before, strict=False)]
    return max(cells, default=0) <= _MOST_CELLS
