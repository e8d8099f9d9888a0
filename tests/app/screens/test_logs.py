"""The log page: kinds with their counts, lines between two moments, hostile lines as text."""

from db.store import Store
from tests.app.conftest import Open, words_of
from tests.app.scenes import HOSTILE, decisive_test
from tests.db.factories import stored_campaign, stored_log_events, stored_run

WEDGED = "bf16 · on · dtype-aware · C=80 #1"


def lines_of(page: object) -> list[str]:
    frames = [frame.value for frame in page.dataframe]  # type: ignore[attr-defined]
    return [str(line) for frame in frames if "line" in frame.columns for line in frame["line"]]


def test_the_log_of_a_run_opens_cold_with_kinds_and_lines(open_page: Open, store: Store) -> None:
    run = decisive_test(store).runs[WEDGED]

    page = open_page("logs", run=f"r-{run.id}")

    assert not page.exception
    assert len(lines_of(page)) == 20


def test_a_window_of_seconds_and_words_is_in_the_address(open_page: Open, store: Store) -> None:
    run = decisive_test(store).runs[WEDGED]

    page = open_page("logs", run=f"r-{run.id}", start="9", end="11.5", q="WAITINGFORINPUT")

    assert not page.exception
    assert len(lines_of(page)) == 3


def test_a_filter_that_nothing_passes_says_so_and_can_be_cleared(
    open_page: Open, store: Store
) -> None:
    run = decisive_test(store).runs[WEDGED]
    page = open_page("logs", run=f"r-{run.id}", q='"no such words"')
    assert "No log event was found that passes this filter." in words_of(page)

    next(button for button in page.button if button.label == "Clear").click().run()

    assert len(lines_of(page)) == 20


def test_a_run_without_log_events_blames_no_filter(open_page: Open, store: Store) -> None:
    stored_run(store, stored_campaign(store).arms[0])

    words = words_of(open_page("logs", run="r-1"))

    assert "There is no line to show." in words
    assert "filter" not in words


def test_hostile_lines_are_text(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0])
    stored_log_events(store, run, [HOSTILE, "x" * 100_000])

    page = open_page("logs", run="r-1")

    assert not page.exception
    shown = lines_of(page)
    assert HOSTILE in shown
    assert max(len(line) for line in shown) == 2000


def test_an_unreadable_second_is_named_and_ignored(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("logs", run="r-1", start="soon", end="nan")

    assert not page.exception
    assert "start=soon" in words_of(page)


def test_a_kind_of_event_is_a_term_of_the_filter(open_page: Open, store: Store) -> None:
    run = decisive_test(store).runs[WEDGED]

    page = open_page("logs", run=f"r-{run.id}", q="kind:waiting_for_input t:<12")
    assert len(lines_of(page)) == 3

    next(button for button in page.button if button.label == "All kinds").click().run()

    assert page.query_params["q"] == "t:<12"


def test_a_filter_that_cannot_be_read_is_told_and_filters_nothing(
    open_page: Open, store: Store
) -> None:
    run = decisive_test(store).runs[WEDGED]

    page = open_page("logs", run=f"r-{run.id}", q="outcome:leak")

    assert "there is no key 'outcome'" in words_of(page)
    assert len(lines_of(page)) == 20
