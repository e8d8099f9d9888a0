"""Every sentence template on every recorded verdict case, as one text.

A case is judged as it was registered, and once more under each variant below, of which only the
lines that the variant changes are shown; then come the sentences beside verdicts. Each case ends
with the templates that do not apply to it.

`python -m tests.runner.evidence.rendered_templates` writes the text to where it is kept.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from db.vocabulary import Availability, Direction, Headline, Outcome, OutcomeClass, RunFlag
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.attribution_words import attribution_sentence, removal_lines
from runner.evidence.background_rate import BackgroundRate, background_sentence
from runner.evidence.campaign_verdict import CampaignVerdict, judge_campaign
from runner.evidence.counts import SessionCounts
from runner.evidence.decision_rule import ClaimKind, DecisionRule, Ending
from runner.evidence.dose_response import dose_response, dose_sentence
from runner.evidence.factorial_attribution import Cell, attribute
from runner.evidence.next_experiment import ExperimentKind
from runner.evidence.pair_words import exposure_sentence, paired_sentence
from runner.evidence.paired_sessions import pair_sessions
from runner.evidence.progress_words import evidence_so_far, progress_sentence
from runner.evidence.question import Question
from runner.evidence.recorded_verdicts import recorded_question
from runner.evidence.round_exposure import RoundExposure
from runner.evidence.run_cost import RunCost
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import (
    StopAdvice,
    StopReason,
    advice_at_look,
    advice_between_runs,
    advice_for_versus,
    advice_within_run,
)
from runner.evidence.summary_lines import summary_lines
from runner.evidence.verdict_caveats import CaveatKind
from runner.evidence.verdict_decision import ReasonCode
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.verdict_validity import launches_of
from runner.evidence.wording import corrupt_text, evidence_text, silent_text
from tests.runner.evidence.recorded_answers import TEMPLATES, verdict_cases

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


def as_registered(question: Question) -> Question:
    return question


def with_rule(**changes: object) -> Callable[[Question], Question]:
    return lambda q: replace(q, rule=replace(q.rule, **changes))  # type: ignore[arg-type]


def with_runs(
    change: Callable[[RunEvidence], RunEvidence], *, of_both: bool = False
) -> Callable[[Question], Question]:
    def changed(arm: ArmEvidence) -> ArmEvidence:
        return replace(arm, runs=tuple(change(run) for run in arm.runs))

    return lambda q: replace(
        q, arm=changed(q.arm), versus=changed(q.versus) if of_both else q.versus
    )


def with_setting(**changes: object) -> Callable[[Question], Question]:
    return lambda q: replace(q, setting=replace(q.setting, **changes))  # type: ignore[arg-type]


def of_reduction(question: Question) -> Question:
    rule = replace(question.rule, claim=ClaimKind.REDUCE, predicted_rate=0.03)
    return replace(question, prediction=parse_prediction("corrupt <= 80"), rule=rule)


def without_prediction_of_corruption(question: Question) -> Question:
    return replace(question, prediction=parse_prediction("wedges <= 1000"))


def ended_early(question: Question) -> Question:
    planned = {run.label: 2 * run.counts.all for run in question.arm.runs}
    setting = replace(question.setting, ended_by_rule=True, sessions_planned=planned)
    rule = replace(question.rule, ending=Ending.FIRST_CORRUPT)
    return replace(question, rule=rule, setting=setting)


def of_six_runs(question: Question) -> Question:
    """The runs again and again, in blocks of one run each."""

    def repeated(arm: ArmEvidence) -> ArmEvidence:
        runs = [
            replace(arm.runs[i % len(arm.runs)], label=f"{arm.name} {i + 1}", block=i + 1)
            for i in range(6)
        ]
        return ArmEvidence(arm.name, tuple(runs), 6)

    return replace(question, arm=repeated(question.arm), versus=repeated(question.versus))


def of_loose_comparison(question: Question) -> Question:
    """All of a first launch, before the other arm, in another campaign."""
    setting = replace(
        question.setting,
        scope="C=80, stack testbed",
        launch_of={run.label: "l-1" for run in question.arm.runs[:2]},
        order_is_random=False,
        is_versus_concurrent=False,
        each_run=RunCost(launch_s=480, drive_s=720, gpus=8),
        historical_rate=0.03,
    )
    return replace(question, setting=setting)


def with_one_hopeless_run(question: Question) -> Question:
    run = question.versus.runs[0]
    block = len(question.versus.runs) + 1
    counts = SessionCounts({Outcome.LEAK: run.counts.all})
    runs = (*question.versus.runs, replace(run, label="control x", block=block, counts=counts))
    return replace(question, versus=replace(question.versus, runs=runs, blocks=len(runs)))


def with_runs_of_other_sizes(question: Question) -> Question:
    """A large and a tiny clean run more, against an arm that hardly failed."""
    sizes = {"treatment x": 59, "treatment y": 5}
    clean = [
        replace(
            question.arm.runs[0],
            label=label,
            block=len(question.arm.runs) + i,
            counts=SessionCounts({Outcome.DONE: size}),
            wedges=0,
        )
        for i, (label, size) in enumerate(sizes.items(), start=1)
    ]
    few = SessionCounts({Outcome.DONE: 75, Outcome.LEAK: 5})
    failing = [
        replace(question.versus.runs[0], label=f"control {i}", block=i, counts=few) for i in (1, 2)
    ]
    return replace(
        question,
        arm=ArmEvidence("treatment", (*question.arm.runs, *clean), len(question.arm.runs) + 2),
        versus=ArmEvidence("control", tuple(failing), 2),
    )


def with_run_missing(question: Question) -> Question:
    return replace(question, arm=replace(question.arm, blocks=len(question.arm.runs) + 1))


def flagged(*flags: RunFlag) -> Callable[[Question], Question]:
    return with_runs(lambda run: replace(run, flags=flags))


def ours(run: RunEvidence) -> RunEvidence:
    return replace(run, counts=SessionCounts({Outcome.HARNESS_ERROR: run.counts.all}))


def with_harness_errors(run: RunEvidence) -> RunEvidence:
    counts = {**run.counts.by_outcome, Outcome.HARNESS_ERROR: 2}
    return replace(run, counts=SessionCounts(counts))


def with_uncounted(run: RunEvidence) -> RunEvidence:
    counts = {**run.counts.by_outcome, Outcome.NO_TOOL: 2}
    return replace(run, counts=SessionCounts(counts, frozenset({Outcome.LEAK})))


VARIANTS: Mapping[str, Callable[[Question], Question]] = {
    "as registered": as_registered,
    "exploratory": with_rule(is_registered=False),
    "wedges not counted, lines seen": with_runs(
        lambda run: replace(run, wedges=None, wedge_lines=168, wedge_requests=84)
    ),
    "nothing predicted of corruption": without_prediction_of_corruption,
    "claim to reduce to 3 %": of_reduction,
    "ended by the answer": with_rule(ending=Ending.DECIDED),
    "two planned looks": with_rule(ending=Ending.TWO_LOOKS),
    "ended at the first corrupt session": ended_early,
    "background of 10 %": lambda q: with_setting(
        background=background_sentence("fp8", BackgroundRate(8, 80, 0.17))
    )(with_rule(background=0.1)(q)),
    "six runs an arm": of_six_runs,
    "one launch, no random order, a historical control": of_loose_comparison,
    "one run of the other arm is hopeless": with_one_hopeless_run,
    "a tiny clean run more": with_runs_of_other_sizes,
    "flags of the runs": flagged(
        RunFlag.SERVER_DIED,
        RunFlag.NOT_DRAINED,
        RunFlag.FLUSH_REFUSED,
        RunFlag.RECORD_CAPPED,
        RunFlag.FOREIGN_TRAFFIC,
        RunFlag.ARRIVALS_LATE,
    ),
    "harness errors": with_runs(with_harness_errors),
    "outcomes that do not count": with_runs(with_uncounted),
    "tried before under its name": with_setting(earlier_campaigns=("c-1", "c-2")),
    "undeclared differences": with_setting(undeclared_differences=("image: a v b",)),
    "implied settings": with_setting(implied_differences=("server page_size: 64 v 1",)),
    "not verified": with_setting(unverified=("hicache",)),
    "client saturated": flagged(RunFlag.CLIENT_SATURATED),
    "not exercised": flagged(RunFlag.NOT_EXERCISED),
    "counts that do not add up": lambda q: with_setting(
        sessions_planned={run.label: 7 for run in q.arm.runs}
    )(q),
    "a run missing": with_run_missing,
    "no session that is not ours": with_runs(ours),
    "more blocks than planned": with_setting(planned_blocks=2),
    "one of three hypotheses": as_registered,
}


def verdict_under(variant: str, question: Question) -> CampaignVerdict:
    changed = VARIANTS[variant](question)
    names = ("one", "two", "three") if variant == "one of three hypotheses" else ("one",)
    return judge_campaign(dict.fromkeys(names, changed))["one"]


def said_of(verdict: CampaignVerdict) -> list[Said]:
    return [
        Said(line, verdict.headline, verdict.direction, verdict.availability)
        for line in verdict_lines(verdict)
    ]


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


@dataclass(frozen=True, slots=True)
class CaseRendered:
    """`sections` in order; `unused` are the templates that no variant of the case called for."""

    name: str
    sections: tuple[tuple[str, tuple[Said, ...]], ...]
    used: frozenset[str]

    @property
    def unused(self) -> tuple[str, ...]:
        return tuple(sorted(ALL_TEMPLATES - self.used))


ALL_TEMPLATES = frozenset(
    f"{kind.__name__} {member}"
    for kind in (Headline, ReasonCode, CaveatKind, ExperimentKind, StopReason)
    for member in kind
)


def rendered_cases() -> tuple[CaseRendered, ...]:
    return tuple(_rendered(name, recorded_question(case)) for name, case in verdict_cases().items())


def _rendered(name: str, question: Question) -> CaseRendered:
    sections: list[tuple[str, tuple[Said, ...]]] = []
    used: set[str] = set()
    registered: frozenset[str] = frozenset()
    for variant in VARIANTS:
        verdict = verdict_under(variant, question)
        used |= _templates_of(verdict)
        said = [each for each in said_of(verdict) if each.text not in registered]
        registered = registered or frozenset(each.text for each in said)
        sections.append((variant, tuple(said)))
    for section, said in beside_verdicts(question):
        sections.append((section, tuple(said)))
        if section == "stopping":
            used |= {f"StopReason {each.text.split(':')[0]}" for each in said}
    return CaseRendered(name, tuple(sections), frozenset(used))


def _templates_of(verdict: CampaignVerdict) -> set[str]:
    return {
        f"Headline {verdict.headline}",
        *(f"ReasonCode {reason.code}" for reason in verdict.reasons),
        *(f"CaveatKind {caveat.kind}" for caveat in verdict.caveats),
        *(f"ExperimentKind {experiment.kind}" for experiment in verdict.experiments),
    }


def as_text(cases: tuple[CaseRendered, ...]) -> str:
    lines: list[str] = []
    for case in cases:
        lines.append(f"# {case.name}")
        for section, said in case.sections:
            lines += ["", f"## {section}", *(each.text for each in said)]
            lines += [] if said else ["(nothing else is said)"]
        lines += ["", "## templates that do not apply here", *case.unused, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TEMPLATES.write_text(as_text(rendered_cases()), encoding="utf-8")
