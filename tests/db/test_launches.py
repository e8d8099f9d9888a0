import pytest

from db.errors import RowMissingError
from db.launches import (
    add_fingerprint,
    end_abandoned_launches,
    fingerprints_of,
    launch_ended,
    launch_ready,
    record_launch,
)
from db.store import Store
from db.tables.runs import LaunchRow
from tests.db.factories import stored_campaign, stored_id
from tests.db.fresh_stores import SECOND_US, START_US, FakeClock


@pytest.fixture
def launch_id(store: Store) -> int:
    campaign_id = stored_id(stored_campaign(store).campaign)
    launch = record_launch(
        store,
        campaign_id,
        stack="testbed",
        commands={"server": ["python", "-m", "runner.testbed", "serve"]},
        process_ids={"server": 4711},
    )
    return stored_id(launch)


def stored(store: Store, launch_id: int) -> LaunchRow:
    with store.session() as session:
        launch = session.get(LaunchRow, launch_id)
    assert launch is not None
    return launch


def test_a_launch_notes_its_start_readiness_and_first_end(
    store: Store, launch_id: int, clock: FakeClock
) -> None:
    clock.advance_s(3)
    launch_ready(store, launch_id)
    clock.advance_s(4)
    launch_ended(store, launch_id, reason="server died")
    clock.advance_s(5)
    launch_ended(store, launch_id, reason="stopped")

    launch = stored(store, launch_id)
    assert launch.started_at_us == START_US
    assert launch.ready_at_us == START_US + 3 * SECOND_US
    assert launch.ended_at_us == START_US + 7 * SECOND_US
    assert launch.end_reason == "server died"
    assert launch.commands["server"][-1] == "serve"


def test_launches_that_nobody_ended_are_ended_by_whoever_takes_their_stack(
    store: Store, clock: FakeClock
) -> None:
    campaign_id = stored_id(stored_campaign(store).campaign)
    ended, open_one, elsewhere = (
        stored_id(record_launch(store, campaign_id, stack=stack, commands={}, process_ids={}))
        for stack in ("testbed", "testbed", "other")
    )
    launch_ended(store, ended, reason="another arm is due")
    clock.advance_s(5)

    assert end_abandoned_launches(store, "testbed", reason="killed") == 1

    reasons = [stored(store, number).end_reason for number in (ended, open_one, elsewhere)]
    assert reasons == ["another arm is due", "killed", None]


def test_fingerprints_are_kept_in_the_order_in_which_they_were_taken(
    store: Store, launch_id: int
) -> None:
    for service in ("server", "router", "server"):
        add_fingerprint(store, launch_id, service=service, facts={"version": "0.5.9"})

    services = [fingerprint.service for fingerprint in fingerprints_of(store, launch_id)]
    assert services == ["server", "router", "server"]


def test_what_is_no_launch_is_named(store: Store) -> None:
    with pytest.raises(RowMissingError, match="no launch l-5"):
        launch_ready(store, 5)
    with pytest.raises(RowMissingError, match="no launch l-5"):
        add_fingerprint(store, 5, service="server", facts={})
