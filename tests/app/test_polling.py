"""When a page is drawn again."""

from app.errors import NoStoreError
from app.widgets.polling import standing, watcher


def test_what_changes_while_a_page_is_drawn_is_seen_at_the_first_look_after_it() -> None:
    states = ["running"]
    seen = standing(lambda: states[-1])
    states.append("done")

    has_changed = watcher(lambda: states[-1], seen)

    assert not has_changed()  # the fragment runs once with the page that draws it
    assert has_changed()


def test_nothing_is_redrawn_while_nothing_changes() -> None:
    has_changed = watcher(lambda: "running", standing(lambda: "running"))

    assert [has_changed() for _ in range(3)] == [False, False, False]


def test_a_store_that_goes_away_is_a_change() -> None:
    has_changed = watcher(_no_store, "running")

    assert [has_changed(), has_changed()] == [False, True]
    assert standing(_no_store) == "There is no store here any more."


def _no_store() -> str:
    raise NoStoreError("There is no store here any more.")
