"""What verdicts need besides counts: reasons of silence, reports of launches, earlier campaigns."""

from db.launches import add_fingerprint, record_launch
from db.reads.campaigns import earlier_of_name
from db.reads.runs import launch_reports
from db.reads.sessions import SilentKind, silent_kinds
from db.store import Store
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session


def test_reasons_of_silence_are_counted_with_one_of_their_details(store: Store) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0], counts={Outcome.DONE: 2, Outcome.LEAK: 1})
    for index, (reason, detail) in enumerate(
        [("stalled", "b"), ("stalled", "a"), ("http_5xx", "503"), (None, None)], start=10
    ):
        stored_session(store, run, Outcome.ERROR, index=index, reason=reason, detail=detail)

    with store.session() as session:
        kinds = silent_kinds(session.connection(), [stored_id(run)])

    assert kinds[0] == SilentKind(reason="stalled", sessions=2, detail="a")
    assert {(kind.reason, kind.sessions) for kind in kinds[1:]} == {("http_5xx", 1), ("unknown", 1)}


def test_the_newest_report_of_each_service_of_each_launch_is_read(store: Store) -> None:
    campaign_id = stored_id(stored_campaign(store).campaign)
    launches = [
        stored_id(record_launch(store, campaign_id, stack="s", commands={}, process_ids={}))
        for _ in range(3)
    ]
    for version in (1, 2):
        add_fingerprint(store, launches[0], service="server", facts={"version": version})
    add_fingerprint(store, launches[0], service="client", facts={"python": "3.11"})
    add_fingerprint(store, launches[1], service="server", facts={"version": 3})

    with store.session() as session:
        reports = launch_reports(session.connection(), launches[:1])

    assert reports == {launches[0]: {"server": {"version": 2}, "client": {"python": "3.11"}}}


def test_only_campaigns_of_the_name_that_had_begun_before_are_earlier(store: Store) -> None:
    begun = stored_campaign(store, definition_key="a")
    stored_campaign(store, definition_key="b")
    other = stored_campaign(store, name="other", definition_key="c")
    last = stored_campaign(store, definition_key="d")
    later = stored_campaign(store, definition_key="e")
    for each in (begun, other, last, later):
        stored_run(store, each.arms[0], state=RunState.STOPPED)

    with store.session() as session:
        earlier = earlier_of_name(session.connection(), stored_id(last.campaign))

    assert earlier == [stored_id(begun.campaign)]
