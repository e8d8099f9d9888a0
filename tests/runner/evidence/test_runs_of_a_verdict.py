"""What runs that are missing, cut short, shared or spoilt do to a verdict."""

import pytest

from db.vocabulary import Direction, Elimination, Headline, RunFlag, RunState
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.verdict_caveats import CaveatKind
from runner.evidence.verdict_decision import ReasonCode
from runner.evidence.verdict_text import verdict_lines
from tests.runner.evidence.arms import arm, run
from tests.runner.evidence.verdicts import Run, arm_of, verdict_of

CLEAN: list[Run] = [(80, 0, 0)] * 3


def test_open_runs_allow_only_that_a_criterion_already_failed() -> None:
    open_clean = verdict_of(arm_of(CLEAN, blocks=4))
    open_corrupt = verdict_of(arm_of([(60, 20, 0)] * 3, blocks=4))

    assert open_clean.headline is Headline.INCONCLUSIVE
    assert open_clean.reason_codes == {ReasonCode.RUNS_MISSING}
    assert open_corrupt.headline is Headline.REFUTED
    assert open_corrupt.direction is Direction.UNCLEAR
    assert open_corrupt.comparison is None
    assert CaveatKind.INTERIM in {caveat.kind for caveat in open_corrupt.caveats}


@pytest.mark.parametrize("state", [RunState.STOPPED, RunState.FAILED, RunState.INVALID])
def test_a_run_that_does_not_count_is_missing(state: RunState) -> None:
    stopped = run({"done": 9}, block=3, label="after 3", state=state)
    after = arm(*arm_of([(80, 0, 0)] * 2).done, stopped, blocks=3)

    verdict = verdict_of(after)

    assert verdict.headline is Headline.INCONCLUSIVE
    assert verdict.reason_codes == {ReasonCode.RUNS_MISSING}


def test_an_arm_without_any_run_is_no_arm() -> None:
    verdict = verdict_of(arm_of([], blocks=3))

    assert verdict.headline is Headline.INCONCLUSIVE
    assert "3 of 3 runs of after missing" in verdict.sentence


# --- clusters, order, registration


def test_runs_that_share_a_launch_are_one_cluster() -> None:
    shared = ComparisonSetting(launch_of={f"after {i}": "L1" for i in (1, 2, 3)})

    verdict = verdict_of(CLEAN, setting=shared)

    assert verdict.comparison is not None
    assert [x.sessions for x in verdict.comparison.after.launches] == [240]
    assert verdict.comparison.rho == 0.05
    assert CaveatKind.SHARED_LAUNCHES in {caveat.kind for caveat in verdict.caveats}


def test_one_start_of_the_servers_is_written_as_one() -> None:
    labels = [f"{arm} {block}" for arm in ("after", "before") for block in (1, 2, 3)]
    shared = ComparisonSetting(launch_of=dict.fromkeys(labels, "L1"))

    said = [each.text for each in verdict_of(CLEAN, setting=shared).caveats]

    assert any(each.startswith("5 runs in 1 start of the servers:") for each in said)


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        (("c-1",), "c-1 had begun before, and what it showed"),
        (("c-1", "c-2"), "c-1, c-2 had begun before, and what they showed"),
    ],
)
def test_earlier_campaigns_of_the_name_are_counted_in_words(
    earlier: tuple[str, ...], said: str
) -> None:
    verdict = verdict_of(CLEAN, setting=ComparisonSetting(earlier_campaigns=earlier))

    assert any(said in each.text for each in verdict.caveats)


@pytest.mark.parametrize(
    ("order", "is_noted"),
    [
        (("after 1", "after 2", "after 3", "before 1", "before 2"), True),
        (("after 1", "before 1", "before 2", "after 2", "after 3"), False),
        ((), False),
    ],
)
def test_an_arm_that_ran_wholly_before_the_other_is_noted(
    order: tuple[str, ...], is_noted: bool
) -> None:
    verdict = verdict_of(CLEAN, setting=ComparisonSetting(order=order))

    kinds = {caveat.kind for caveat in verdict.caveats}
    assert (CaveatKind.ORDER_NOT_RANDOMISED in kinds) is is_noted


def test_our_own_failures_are_listed_and_stand_in_no_rate() -> None:
    after = arm(
        *[
            run({"done": 78, "harness_error": 2}, block=block, label=f"after {block}", wedges=0)
            for block in (1, 2, 3)
        ]
    )

    verdict = verdict_of(after)

    assert verdict.comparison is not None and verdict.comparison.after.sessions == 234
    assert any("6 sessions failed by our own fault" in caveat.text for caveat in verdict.caveats)


# --- other claims and endings


def test_a_run_that_its_first_corrupt_session_ended_shows_no_direction() -> None:
    rule = DecisionRule(ending=Ending.FIRST_CORRUPT)
    setting = ComparisonSetting(ended_by_rule=True, sessions_planned={"after 1": 80})
    after = arm_of([(2, 1, 0)], blocks=3)

    verdict = verdict_of(after, setting=setting, rule=rule)

    assert verdict.headline is Headline.REFUTED
    assert verdict.reason_codes == {
        "criterion corruption == 0 failed (1 seen)",
        ReasonCode.DIRECTION_STOPPED_EARLY,
    }


def test_a_stop_rule_that_did_not_fire_excuses_no_missing_run() -> None:
    setting = ComparisonSetting(ended_by_rule=True)
    clean = arm_of([(80, 0, 0)] * 2, blocks=3)

    first_corrupt = verdict_of(
        clean, setting=setting, rule=DecisionRule(ending=Ending.FIRST_CORRUPT)
    )
    decided = verdict_of(
        arm_of([(80, 0, 0)], blocks=3), setting=setting, rule=DecisionRule(ending=Ending.DECIDED)
    )

    assert first_corrupt.reason_codes == {ReasonCode.RUNS_MISSING}
    assert decided.headline is Headline.INCONCLUSIVE
    assert CaveatKind.INTERIM in {caveat.kind for caveat in decided.caveats}


def test_runs_without_a_say_are_named_with_why() -> None:
    invalid = run({"done": 3}, block=3, label="r-9", state=RunState.INVALID, reason="not in arm")
    after = arm(*[run({"done": 80}, block=b, label=f"after {b}") for b in (1, 2)], invalid)

    verdict = verdict_of(after)

    assert verdict.exclusions == (
        "r-9 of after, block 3, is invalid, with 3 sessions that ended: not in arm",
    )
    assert "Left out: " + verdict.exclusions[0] in verdict_lines(verdict)


def test_a_run_that_ended_at_its_wedge_adds_up_and_shows_no_direction() -> None:
    wedged = run(
        {"done": 20, "error": 10},
        block=1,
        label="after 1",
        wedges=1,
        flags=(RunFlag.ENDED_AT_WEDGE,),
    )
    setting = ComparisonSetting(sessions_planned={"after 1": 80})

    verdict = verdict_of(arm(wedged), setting=setting)

    assert verdict.headline is Headline.REFUTED
    assert ReasonCode.DIRECTION_STOPPED_EARLY in verdict.reason_codes
    (said,) = [c.text for c in verdict.caveats if c.kind is CaveatKind.STOPPED_EARLY]
    assert said.startswith("Ended early: after 1 at its wedge after 30 of 80. The price: a run")


def test_corruption_seen_before_somebody_stopped_the_run_refutes_all_the_same() -> None:
    stopped = run({"done": 20, "leak": 2}, block=1, label="r-9", state=RunState.STOPPED, wedges=0)
    again = [run({"done": 80}, block=b, label=f"after {b}", wedges=0) for b in (1, 2, 3)]

    verdict = verdict_of(arm(stopped, *again, blocks=3))

    assert verdict.elimination is Elimination.REFUTED
    assert verdict.headline is Headline.IMPROVED_NOT_ELIMINATED
    assert "But 2 corrupt sessions were seen, so it is not eliminated." in verdict.sentence
    assert verdict.comparison is not None and verdict.comparison.after.corrupt == 0
    (left_out,) = verdict.exclusions
    assert left_out.endswith("with 22 sessions that ended, 2 of them corrupt")


def test_silence_of_a_run_that_was_stopped_breaks_no_prediction() -> None:
    stopped = run({"done": 20, "error": 9}, block=1, label="r-9", state=RunState.STOPPED, wedges=0)
    again = [run({"done": 80}, block=b, label=f"after {b}", wedges=0) for b in (1, 2, 3)]

    verdict = verdict_of(
        arm(stopped, *again, blocks=3), predict="corrupt == 0 and wedges == 0 and silent == 0"
    )

    assert verdict.headline is Headline.CONFIRMED


@pytest.mark.parametrize("state", [RunState.INVALID, RunState.FAILED])
def test_what_was_seen_outside_the_arm_or_by_our_own_fault_refutes_nothing(state: RunState) -> None:
    invalid = run({"leak": 5}, block=1, label="r-9", state=state, wedges=0)
    again = [run({"done": 80}, block=b, label=f"after {b}", wedges=0) for b in (1, 2, 3)]

    assert verdict_of(arm(invalid, *again, blocks=3)).headline is Headline.CONFIRMED


def test_sessions_that_broke_our_own_code_cannot_hide_the_corrupt_ones() -> None:
    broken = [
        run({"done": 70, "harness_error": 10}, block=b, label=f"after {b}", wedges=0)
        for b in (1, 2, 3)
    ]

    verdict = verdict_of(arm(*broken))

    assert verdict.headline is Headline.INCONCLUSIVE
    assert verdict.reason_codes == {ReasonCode.INVALID_COUNTS}
    assert "30 of 240 sessions failed by our own fault" in verdict.sentence
