"""Which runs of an arm count, and which are missing."""

from db.vocabulary import RunFlag, RunState
from tests.runner.evidence.arms import arm, run


def test_only_runs_that_are_done_count() -> None:
    states = [RunState.STOPPED, RunState.FAILED, RunState.INVALID, RunState.DRIVING]
    runs = [run({"leak": 9}, block=block, state=state) for block, state in enumerate(states, 2)]

    evidence = arm(run({"done": 80}), *runs)

    assert (evidence.counts.corrupt, evidence.counts.all) == (0, 80)
    assert evidence.missing == 4
    assert [each.state for each in evidence.left_out] == states


def test_a_run_done_again_is_not_missing() -> None:
    evidence = arm(
        run({"done": 3}, block=1, label="r-1", state=RunState.STOPPED),
        run({"done": 80}, block=1, label="r-2"),
        run({}, block=2, label="r-3", state=RunState.FAILED),
        run({}, block=2, label="r-4", state=RunState.STOPPED),
        blocks=3,
    )

    assert evidence.missing == 2
    assert [each.label for each in evidence.left_out] == ["r-4"]
    assert evidence.counts.all == 80


def test_wedges_are_unknown_until_somebody_looked_in_every_run() -> None:
    unseen, seen = run({"done": 1}, block=1), run({"done": 1}, block=2, wedges=2)

    assert (arm(unseen).wedges, arm(unseen).wedges_are_known) == (None, False)
    assert (arm(unseen, seen).wedges, arm(unseen, seen).wedges_are_known) == (2, False)
    assert (arm(seen).wedges, arm(seen).wedges_are_known) == (2, True)
    assert (arm().wedges, arm().wedges_are_known) == (None, False)


def test_wedge_lines_and_requests_are_added_over_the_runs_that_count() -> None:
    evidence = arm(
        run({}, block=1, wedge_lines=160, wedge_requests=50),
        run({}, block=2, wedge_lines=8, wedge_requests=7),
        run({}, block=3, wedge_lines=99, wedge_requests=99, state=RunState.INVALID),
    )

    assert (evidence.wedge_lines, evidence.wedge_requests) == (168, 57)


def test_flags_name_their_runs() -> None:
    evidence = arm(run({}, block=1, flags=(RunFlag.SERVER_DIED,)), run({}, block=2))

    assert [each.label for each in evidence.flagged(RunFlag.SERVER_DIED)] == ["r-1"]
