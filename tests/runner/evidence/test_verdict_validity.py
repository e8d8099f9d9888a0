"""What must be right before two arms are compared, each doubt with its sentence."""

from dataclasses import replace

import pytest

from db.vocabulary import RunFlag, RunState
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.verdict_decision import ReasonCode
from runner.evidence.verdict_validity import (
    has_sessions,
    invalidities,
    is_cut_short,
    launches_of,
    missing_runs,
)
from tests.runner.evidence.arms import arm, run
from tests.runner.evidence.verdicts import arm_of

AFTER = arm_of([(80, 0, 0)] * 2)
BEFORE = arm_of([(68, 12, 0)] * 2, name="before")
PLANNED = {f"{name} {i}": 80 for name in ("after", "before") for i in (1, 2)}


def doubts(
    after: ArmEvidence = AFTER, before: ArmEvidence = BEFORE, **setting: object
) -> list[tuple[ReasonCode, str]]:
    found = invalidities(after, before, setting=ComparisonSetting(**setting))  # type: ignore[arg-type]
    return [(doubt.code, doubt.text) for doubt in found]


def missing(
    after: ArmEvidence = AFTER,
    before: ArmEvidence = BEFORE,
    *,
    ending: Ending = Ending.FIXED,
    ended_by_rule: bool = False,
    **criterion: bool,
) -> list[str]:
    found = missing_runs(
        after,
        before,
        setting=ComparisonSetting(ended_by_rule=ended_by_rule),
        rule=DecisionRule(ending=ending),
        **criterion,
    )
    assert all(doubt.code is ReasonCode.RUNS_MISSING for doubt in found)
    return [doubt.text for doubt in found]


def test_two_whole_arms_leave_no_doubt() -> None:
    assert doubts(sessions_planned=PLANNED) == []
    assert missing() == []


def test_differences_that_nobody_declared_and_unverified_factors_are_named() -> None:
    assert doubts(undeclared_differences=("image: a v b", "node: x v y"), unverified=("tp",)) == [
        (ReasonCode.INVALID_DIFFERENCES, "the arms also differ in image: a v b, node: x v y"),
        (ReasonCode.INVALID_UNVERIFIED, "not verified: tp"),
    ]


@pytest.mark.parametrize(
    ("flag", "code", "what"),
    [
        (RunFlag.CLIENT_SATURATED, ReasonCode.INVALID_SATURATED, "the client was too slow"),
        (RunFlag.NOT_EXERCISED, ReasonCode.INVALID_NOT_EXERCISED, "was not seen in use"),
    ],
)
def test_a_flag_of_either_arm_names_its_runs(flag: RunFlag, code: ReasonCode, what: str) -> None:
    ((found, text),) = doubts(after=arm_of([(80, 0, 0)] * 2, flags=(flag,)))
    ((other, of_before),) = doubts(before=arm_of([(68, 12, 0)], name="before", flags=(flag,)))

    assert (found, other) == (code, code)
    assert text.startswith("after: ") and text.endswith("(after 1, after 2)") and what in text
    assert of_before.startswith("before: ") and of_before.endswith("(before 1)")


def test_sessions_that_were_planned_and_did_not_end_are_a_doubt_unless_a_rule_ended_them() -> None:
    short = arm_of([(80, 0, 0), (79, 0, 0)])
    long = arm_of([(80, 0, 0), (81, 0, 0)])
    wrong = [
        (ReasonCode.INVALID_COUNTS, "after: sessions planned and ended differ (after 2)"),
    ]

    assert doubts(short, sessions_planned=PLANNED) == wrong
    assert doubts(short, sessions_planned=PLANNED, ended_by_rule=True) == []
    assert doubts(long, sessions_planned=PLANNED, ended_by_rule=True) == wrong
    assert doubts(short, sessions_planned={}) == []
    wedged = replace(short.runs[1], flags=(RunFlag.ENDED_AT_WEDGE,))
    ended = replace(short, runs=(short.runs[0], wedged))
    assert doubts(ended, sessions_planned=PLANNED) == []


def test_our_own_failures_count_among_the_sessions_that_ended() -> None:
    ours = arm(run({"done": 78, "harness_error": 2}, label="after 1"))
    setting = ComparisonSetting(sessions_planned=PLANNED)

    assert doubts(ours, sessions_planned=PLANNED) == []
    assert not is_cut_short(ours.runs[0], setting)
    assert is_cut_short(run({"done": 79}, label="after 1"), setting)
    assert not is_cut_short(run({"done": 81}, label="after 1"), setting)
    assert not is_cut_short(run({"done": 1}, label="unplanned"), setting)


def test_runs_that_are_missing_are_counted_by_arm() -> None:
    fewer = arm_of([(80, 0, 0)], blocks=3)

    assert missing(fewer) == ["2 of 3 runs of after missing"]
    both = missing(fewer, arm_of([(68, 12, 0)], name="before", blocks=2))
    assert both == ["2 of 3 runs of after missing", "1 of 2 runs of before missing"]


def test_a_rule_that_ended_the_runs_excuses_what_is_missing_and_an_accident_does_not() -> None:
    clean, corrupt = arm_of([(80, 0, 0)], blocks=3), arm_of([(79, 1, 0)], blocks=3)
    said = ["2 of 3 runs of after missing"]

    assert missing(corrupt, ending=Ending.FIRST_CORRUPT, ended_by_rule=True) == []
    assert missing(corrupt, ending=Ending.FIRST_CORRUPT) == said
    assert missing(clean, ending=Ending.FIRST_CORRUPT, ended_by_rule=True) == said
    assert missing(clean, ending=Ending.DECIDED, ended_by_rule=True) == []
    assert missing(clean, ending=Ending.DECIDED) == said


def test_a_planned_look_excuses_what_is_missing_only_where_it_answered() -> None:
    clean, faulty = (
        arm_of(runs, name=name, blocks=4)
        for name, runs in (("after", [(80, 0, 0)] * 2), ("before", [(65, 15, 0), (66, 14, 0)]))
    )
    alike = arm_of([(66, 14, 0), (67, 13, 0)], blocks=4)
    look = {"ending": Ending.TWO_LOOKS, "ended_by_rule": True}

    assert missing(clean, faulty, **look) == []  # type: ignore[arg-type]
    assert len(missing(alike, faulty, **look, criterion_failed=True)) == 2  # type: ignore[arg-type]
    few = arm_of([(79, 1, 0), (78, 2, 0)], blocks=4)
    assert len(missing(few, faulty, **look)) == 2  # type: ignore[arg-type]
    assert missing(few, faulty, **look, criterion_failed=True) == []  # type: ignore[arg-type]
    not_counted = replace(clean, runs=tuple(replace(r, wedges=None) for r in clean.runs))
    assert len(missing(not_counted, faulty, **look)) == 2  # type: ignore[arg-type]


def test_an_arm_without_a_session_that_counts_is_missing_whatever_ended_it() -> None:
    ours = arm(run({"harness_error": 80}), name="after")
    failed = arm(run({"done": 80}, state=RunState.FAILED), name="after", blocks=1)

    assert not has_sessions(ours) and not has_sessions(failed) and has_sessions(AFTER)
    assert missing(ours, ending=Ending.DECIDED, ended_by_rule=True) == [
        "no session of after says anything of the server"
    ]
    assert missing(failed, ending=Ending.DECIDED, ended_by_rule=True) == [
        "1 of 1 runs of after missing"
    ]


def test_runs_of_one_launch_are_one_cluster_and_others_stay_apart() -> None:
    runs = arm_of([(70, 6, 4), (60, 20, 0), (80, 0, 0)])
    shared = ComparisonSetting(launch_of={"after 1": "l-1", "after 3": "l-1", "after 2": "l-2"})

    assert launches_of(runs, setting=shared) == (LaunchCounts(150, 6, 4), LaunchCounts(60, 20, 0))
    assert launches_of(runs, setting=ComparisonSetting()) == (
        LaunchCounts(70, 6, 4),
        LaunchCounts(60, 20, 0),
        LaunchCounts(80, 0, 0),
    )
