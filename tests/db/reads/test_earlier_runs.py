from sqlalchemy import Connection

from db.reads.earlier_runs import earlier_runs
from db.store import Store
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_campaign, stored_run
from tests.db.fresh_stores import START_US

FOUR = {Outcome.DONE: 4}


def test_runs_that_played_all_their_sessions_say_how_long_they_took(
    store: Store, connection: Connection
) -> None:
    arm = stored_campaign(store).arms[0]
    moments = {"started_at_us": START_US, "driving_at_us": START_US + 9_500_000}
    stored_run(store, arm, counts=FOUR, sessions_planned=4, wall_s=31.0, **moments)
    stored_run(store, arm, counts=FOUR, sessions_planned=80, wall_s=3.0, block=1)
    stored_run(store, arm, state=RunState.STOPPED, sessions_planned=4, wall_s=1.0, block=2)

    (run,) = earlier_runs(connection, "decisive-test", stack="testbed")

    assert (run.arm_name, run.sessions, run.wall_s, run.launch_s) == (arm.name, 4, 31.0, 9.5)
    assert run.definition == {"campaign": "decisive-test"}


def test_another_campaign_or_another_stack_says_nothing(
    store: Store, connection: Connection
) -> None:
    arm = stored_campaign(store).arms[0]
    stored_run(store, arm, counts=FOUR, sessions_planned=4, wall_s=31.0)

    assert earlier_runs(connection, "another", stack="testbed") == []
    assert earlier_runs(connection, "decisive-test", stack="another") == []
