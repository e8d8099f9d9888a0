"""The list of campaigns, from nothing at all to a queue in work."""

import sqlite3
import time
from pathlib import Path

from app.kept_answers import forget_answers
from db.launch_queue import claim, enqueue, request_stop
from db.reads import work
from db.store import Store
from db.vocabulary import LaunchRequestState, Outcome
from tests.app.conftest import Open, words_of
from tests.app.scenes import decisive_test, edit, half_way
from tests.db.factories import arm_spec, stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import fresh_store


def test_before_any_store_the_page_says_that_it_waits(open_page: Open) -> None:
    page = open_page()

    assert not page.exception
    assert "Waiting for the first run" in words_of(page)


def test_the_page_fills_as_soon_as_a_store_appears(open_page: Open, store_path: Path) -> None:
    page = open_page()
    with fresh_store(store_path.parent) as store:
        stored_campaign(store, name="first-light")

    page.run()

    assert "first-light" in words_of(page)


def test_a_store_that_was_read_and_is_gone_is_not_called_the_first_run(
    open_page: Open, store: Store, store_path: Path
) -> None:
    decisive_test(store)
    page = open_page()
    store_path.rename(store_path.with_name("moved.db"))

    page.run()

    assert not page.exception
    words = words_of(page)
    assert "The store is gone" in words
    assert f"There is no store at {store_path} any more." in words
    assert "Waiting for the first run" not in words


def test_a_store_that_is_put_back_is_shown_again(
    open_page: Open, store: Store, store_path: Path
) -> None:
    decisive_test(store)
    page = open_page()
    away = store_path.rename(store_path.with_name("moved.db"))
    page.run()
    away.rename(store_path)

    page.run()

    assert "decisive-test" in words_of(page)


def test_an_empty_store_offers_the_files_of_the_server(open_page: Open, store: Store) -> None:
    words = words_of(open_page())

    assert "No campaign yet" in words
    assert "Choose a campaign file" in words


def test_a_campaign_shows_its_worst_cell_with_count_and_interval(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)

    page = open_page()

    words = words_of(page)
    assert not page.exception
    assert "decisive-test" in words
    assert "**33/240** 13.8\u2009% [10.0–18.7]" in words
    assert "host-pool refuted" in words
    assert "19 of 21 runs done" in words
    assert "1 run stopped, 1 run invalid" in words


def test_a_campaign_in_work_shows_how_far_it_is(open_page: Open, store: Store) -> None:
    half_way(store)

    words = words_of(open_page())

    assert "running" in words
    assert "2 of 10 runs done" in words


def test_a_queued_request_can_be_taken_back(open_page: Open, store: Store) -> None:
    request = enqueue(store, "smoke")
    page = open_page()
    assert "smoke queued" in words_of(page)

    page.button(key=f"stop q-{request.id}").click().run()

    with store.session() as session:
        (found,) = work.recent_requests(session.connection())
    assert found.state == LaunchRequestState.STOPPED


def test_a_running_request_is_asked_to_stop(open_page: Open, store: Store) -> None:
    enqueue(store, "smoke")
    request = claim(store, "w-1")
    assert request is not None
    page = open_page()

    page.button(key=f"stop q-{request.id}").click().run()

    assert "Stop requested" in words_of(page)


def test_a_failed_request_says_why(open_page: Open, store: Store) -> None:
    request = enqueue(store, "smoke")
    request_stop(store, stored_id(request))
    with store.write() as session:
        session.add(request)
        request.state = LaunchRequestState.FAILED
        request.message = "port 8000 is taken"

    assert "port 8000 is taken" in words_of(open_page())


def test_a_store_of_a_newer_program_is_refused_in_words(open_page: Open, store: Store) -> None:
    assert store.path is not None
    _set_version(store.path, "9999")

    page = open_page()

    assert not page.exception
    assert "This store cannot be read" in words_of(page)


def test_a_file_that_is_no_store_is_refused_in_words(open_page: Open, store_path: Path) -> None:
    store_path.write_bytes(b"this is no database, but it is long enough to look like one" * 20)

    page = open_page()

    assert not page.exception
    assert "This store cannot be read" in words_of(page)


def test_a_living_worker_shows_its_heartbeat(open_page: Open, store: Store) -> None:
    half_way(store, now_us=time.time_ns() // 1000)

    words = words_of(open_page())

    assert "Worker w-1" in words
    assert "driving r-3" in words
    assert "heartbeat" in words


def test_a_silent_worker_is_called_silent_with_the_next_step(open_page: Open, store: Store) -> None:
    half_way(store, now_us=time.time_ns() // 1000 - 320 * 1_000_000)

    words = words_of(open_page())

    assert "Worker w-1 silent for 5" in words
    assert "decisive worker" in words


def test_no_worker_is_said(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    assert "No worker runs" in words_of(open_page())


def _set_version(path: Path, version: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
    connection.commit()
    connection.close()


def test_what_a_reduction_made_stands_closed_under_its_campaign(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)
    for digest in ("0123abcd", "0123abce"):
        stored_campaign(store, name=f"decisive-test.reduce-{digest}", definition_key=digest)

    page = open_page()

    assert not page.exception
    (expander,) = page.expander
    assert expander.label == "2 campaigns of its reduction"
    assert not expander.proto.expanded
    labels = [link.proto.label.replace("\\", "") for link in expander.get("page_link")]
    assert labels == ["decisive-test.reduce-0123abce", "decisive-test.reduce-0123abcd"]
    assert words_of(page).count("Worst cell") == 1


def test_the_list_says_of_how_many_campaigns_it_names_the_newest(
    open_page: Open, store: Store
) -> None:
    for number in range(201):
        stored_campaign(store, name=f"night-{number}", arms=[arm_spec()])

    words = words_of(open_page())

    assert "The newest 200 of 201 campaigns" in words
    assert "night-200" in words


def test_a_campaign_that_stands_still_keeps_its_row_beside_one_in_work(
    open_page: Open, store: Store
) -> None:
    scene = half_way(store, second=True)
    decisive_test(store, name="still")
    page = open_page()
    assert "2 of 10 runs done" in words_of(page)
    assert "19 of 21 runs done" in words_of(page)

    edit(store, next(iter(scene.runs.values())), state="invalid")
    forget_answers()
    page.run()

    assert "1 of 10 runs done" in words_of(page)
    assert "19 of 21 runs done" in words_of(page)


def test_a_campaign_that_somebody_asks_to_go_on_with_is_no_longer_shown_as_done(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.DONE: 3})
    page = open_page()
    assert "1 of 1 run done" in words_of(page)
    assert " done" in words_of(page)
    assert "waiting" not in words_of(page)

    enqueue(store, "smoke", campaign_id=stored_id(stored.campaign))
    forget_answers()
    page.run()

    assert "waiting" in words_of(page)
