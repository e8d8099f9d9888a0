from db.reads.earlier_runs import EarlierRun
from runner.campaign.definition import definition_of
from runner.campaign.earlier_times import NO_EARLIER_TIMES, earlier_times
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled, stack

ARM = "fp8 · cache=on · fp8-sized · C=80"


def _run(
    wall_s: float, *, text: str = CAMPAIGN, sessions: int = 80, launch_s: int = 20
) -> EarlierRun:
    return EarlierRun(
        arm_name=ARM,
        sessions=sessions,
        definition=definition_of(campaign(text), stack()),
        wall_s=wall_s,
        started_at_us=0,
        driving_at_us=launch_s * 1_000_000,
    )


def test_the_median_of_earlier_runs_counts() -> None:
    times = earlier_times(campaign(), [_run(10.0), _run(30.0, launch_s=40), _run(400.0)])

    assert times.driving_s == {ARM: 30.0}
    assert times.launch_s == 20.0


def test_the_order_of_the_runs_does_not_change_how_long_one_takes() -> None:
    reordered = spoiled(CAMPAIGN, "order_seed: 7", "order_seed: 8")

    assert earlier_times(campaign(), [_run(30.0, text=reordered)]).driving_s == {ARM: 30.0}


def test_runs_of_other_sessions_do_not_count() -> None:
    longer = spoiled(CAMPAIGN, "workload:\n", "workload:\n  rounds: 9\n")

    assert earlier_times(campaign(), [_run(30.0, sessions=40)]) == NO_EARLIER_TIMES
    assert earlier_times(campaign(), [_run(30.0, text=longer)]) == NO_EARLIER_TIMES
