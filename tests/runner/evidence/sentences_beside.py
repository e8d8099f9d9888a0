"""The sentences that stand beside a verdict: of progress, stopping, causes, pairs and cells."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from db.vocabulary import Availability, Direction, Headline, OutcomeClass
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.attribution_words import attribution_sentence, removal_lines
from runner.evidence.counts import SessionCounts
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.dose_response import dose_response, dose_sentence
from runner.evidence.factorial_attribution import Cell, attribute
from runner.evidence.pair_words import exposure_sentence, paired_sentence
from runner.evidence.paired_sessions import pair_sessions
from runner.evidence.progress_words import evidence_so_far, progress_sentence
from runner.evidence.question import Question
from runner.evidence.round_exposure import RoundExposure
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import (
    StopAdvice,
    advice_at_look,
    advice_between_runs,
    advice_for_versus,
    advice_within_run,
)
from runner.evidence.summary_lines import summary_lines
from runner.evidence.verdict_validity import launches_of
from runner.evidence.wording import corrupt_text, evidence_text, silent_text
from tests.runner.evidence.question_variants import verdict_under

ROUNDS_A_SESSION = 14
DECIDED = DecisionRule(ending=Ending.DECIDED)
TWO_LOOKS = DecisionRule(ending=Ending.TWO_LOOKS)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence with what licenses its words; beside verdicts nothing does but `direction`."""

    text: str
    headline: Headline = Headline.INCONCLUSIVE
    direction: Direction = Direction.UNCLEAR
    availability: Availability = Availability.NOT_SHOWN_WORSE


def beside_verdicts(question: Question) -> Iterator[tuple[str, list[Said]]]:
    """Sentences of the runs as they come, and of the cells: the arm is what changed."""
    after, before = (
        launches_of(arm, setting=question.setting) for arm in (question.arm, question.versus)
    )
    first = after[0]
    failed = bool(question.arm.counts.corrupt or question.arm.wedges)
    yield "progress", [Said(progress_sentence(first, planned=2 * first.sessions))]
    yield "evidence so far", [Said(evidence_so_far(after, before, rule=DECIDED))]
    yield "stopping", list(_stopping(question, after, before, failed=failed))
    yield "attribution", list(_attribution(after, before))
    yield "concurrency", list(_concurrency(after, before))
    yield "pairs", [Said(paired_sentence(pair_sessions(_dialogues(first), _dialogues(before[0]))))]
    yield "rounds", [Said(exposure_sentence(_exposure(after), _exposure(before)))]
    yield "cell", [Said(text) for text in _cell(question.arm.counts)]
    yield "printed lines", [Said(line) for line in _printed(question.arm)]


def _stopping(
    question: Question,
    after: tuple[LaunchCounts, ...],
    before: tuple[LaunchCounts, ...],
    *,
    failed: bool,
) -> Iterator[Said]:
    wedges = question.arm.wedges
    advices: list[StopAdvice | None] = [
        advice_within_run(
            after[0],
            sessions_planned=2 * after[0].sessions,
            criterion_failed=failed,
            rule=DECIDED,
        ),
        advice_within_run(
            replace(after[0], corrupt=0),
            sessions_planned=160,
            criterion_failed=failed,
            rule=DECIDED,
        ),
        advice_between_runs(after, before, rule=DECIDED, wedges=wedges),
        advice_for_versus(after, before, rule=DECIDED),
        advice_at_look(after, before, rule=TWO_LOOKS, wedges=wedges, criterion_failed=failed),
        advice_for_versus(after, before, rule=TWO_LOOKS),
    ]
    verdict = verdict_under("as registered", question)
    for advice in advices:
        if advice is not None:
            text = f"{advice.reason}: {advice.text} {advice.cost}"
            yield Said(text, headline=verdict.headline, direction=verdict.direction)


def _attribution(
    after: tuple[LaunchCounts, ...], before: tuple[LaunchCounts, ...]
) -> Iterator[Said]:
    if not any(launch.corrupt for launch in before):
        return
    keys = {"index_keys": "bf16", "hicache": "on"}
    failing = Cell(keys, before)
    cells = [Cell({**keys, factor: "off"}, after) for factor in keys]
    found = attribute(failing, cells, instead=dict.fromkeys(keys, "off"))
    lower = Direction.LOWER if found.together or found.removals else Direction.UNCLEAR
    yield Said(attribution_sentence(found), direction=lower)
    for line in removal_lines(found):
        yield Said(line, direction=lower)


def _concurrency(
    after: tuple[LaunchCounts, ...], before: tuple[LaunchCounts, ...]
) -> Iterator[Said]:
    for name, cells in (("changed arm at 1", {1: after, 80: before}), ("at 80", {1: before})):
        levels = {**cells, 80: after} if len(cells) == 1 else cells
        yield Said(f"{name}: {dose_sentence(dose_response(levels))}")


def _dialogues(launch: LaunchCounts) -> dict[str, OutcomeClass]:
    """Corrupt ones first, silent ones last."""
    classes = (
        [OutcomeClass.CORRUPT] * launch.corrupt
        + [OutcomeClass.CLEAN] * launch.clean
        + [OutcomeClass.SILENT] * launch.silent
    )
    return {str(index): outcome for index, outcome in enumerate(classes)}


def _exposure(launches: tuple[LaunchCounts, ...]) -> RoundExposure:
    """Corrupt and silent sessions end half way."""
    half_rounds = sum(x.corrupt + x.silent + 2 * x.clean for x in launches) * ROUNDS_A_SESSION
    return RoundExposure(sum(x.corrupt for x in launches), half_rounds // 2)


def _cell(counts: SessionCounts) -> tuple[str, ...]:
    said = corrupt_text(counts), silent_text(counts), evidence_text(counts)
    return tuple(text for text in said if text)


def _printed(arm: ArmEvidence) -> tuple[str, ...]:
    return summary_lines(
        arm.counts, wall_s=485.7, peak_running=2.0, wedge_lines=168, wedge_requests=84
    )
