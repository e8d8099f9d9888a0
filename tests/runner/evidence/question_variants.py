"""What a recorded question can be asked as: each variant changes one thing of it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from db.vocabulary import Outcome, RunFlag
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.background_rate import BackgroundRate, background_sentence
from runner.evidence.campaign_verdict import CampaignVerdict, judge_campaign
from runner.evidence.counts import SessionCounts
from runner.evidence.decision_rule import ClaimKind, Ending
from runner.evidence.question import Question
from runner.evidence.run_cost import RunCost


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
    "launches between which nothing shows a restart": lambda q: with_setting(
        perhaps_one_start={run.label: "l-1" for run in (*q.arm.runs, *q.versus.runs)}
    )(q),
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
