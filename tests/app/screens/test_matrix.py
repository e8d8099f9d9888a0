"""The matrix: every cell with its count, the drawer of one, and what is not counted."""

import pytest

from db.reads.campaigns import campaigns
from db.store import Store
from db.vocabulary import Outcome, RunState
from tests.app.conftest import Open, words_of
from tests.app.scenes import HOSTILE, decisive_test, half_way
from tests.db.factories import ArmSpec, stored_campaign, stored_id, stored_run


def test_a_pasted_link_opens_the_matrix_cold(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("matrix", campaign="c-1")

    assert not page.exception
    assert "10 cells: 2 with corrupt sessions" in words_of(page)


def test_without_a_campaign_in_the_address_the_one_in_work_is_shown(
    open_page: Open, store: Store
) -> None:
    half_way(store)
    stored_campaign(store, name="newer but idle")

    page = open_page("matrix")

    words = words_of(page)
    assert "c-1 half-way" in words
    assert "52 of 80 ended" in words
    assert page.query_params["campaign"] == "c-1"


def test_a_cell_in_the_address_opens_its_drawer(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    arm = scene.stored.arms[9]

    words = words_of(open_page("matrix", campaign="c-1", arm=f"a-{arm.id}"))

    assert "##### bf16 · on · dtype-aware · C=80" in words
    assert "wedged" in words
    assert "Compare with the baseline" in words
    assert "s-81" in words


def test_the_drawer_lists_runs_that_do_not_count_with_their_reason(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    arm = scene.stored.arms[3]

    words = words_of(open_page("matrix", campaign="c-1", arm=f"a-{arm.id}"))

    assert "not counted: the arm is not what the server says it is" in words


def test_closing_the_drawer_clears_the_cell_from_the_address(open_page: Open, store: Store) -> None:
    decisive_test(store)
    page = open_page("matrix", campaign="c-1", arm="a-8")

    next(button for button in page.button if button.label == "Close").click().run()

    assert "arm" not in page.query_params
    assert "Click a cell" in words_of(page)


def test_the_metric_is_part_of_the_address(open_page: Open, store: Store) -> None:
    decisive_test(store)
    page = open_page("matrix", campaign="c-1")

    page.get("button_group")[0].set_value("silent").run()

    assert page.query_params["metric"] == "silent"


def test_an_unknown_metric_leaves_the_default_and_is_named(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("matrix", campaign="c-1", metric="foo")

    assert not page.exception
    assert "Ignored in the address: metric=foo" in words_of(page)


def test_an_unknown_campaign_is_a_friendly_page(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("matrix", campaign="c-99")

    assert not page.exception
    words = words_of(page)
    assert "There is no c-99 in this store." in words
    assert "All campaigns" in words


def test_a_campaign_without_a_finished_run_shows_planned_cells(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    for arm in stored.arms:
        stored_run(store, arm, state=RunState.PLANNED)

    words = words_of(open_page("matrix", campaign="c-1"))

    assert "5 without a finished run" in words


def test_the_table_says_the_same_as_the_picture(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("matrix", campaign="c-1")

    table = page.table[0].value
    rows = table.set_index(["arm", "concurrency"])
    assert len(table) == 10
    assert "33/240" in set(table["corrupt"])
    assert rows.loc[table["arm"].str.contains("dtype").to_numpy()]["tag"].eq("FIXED").all()


def test_names_from_files_cannot_act_as_markdown(open_page: Open, store: Store) -> None:
    arms = [ArmSpec(name=HOSTILE, levels={"x": HOSTILE, "concurrency": 80})]
    stored = stored_campaign(store, name=HOSTILE, arms=arms)
    stored_run(store, stored.arms[0], counts={Outcome.LEAK: 1})

    page = open_page("matrix", campaign="c-1", arm="a-1")

    assert not page.exception
    markdown = [str(element.value) for element in [*page.markdown, *page.caption]]
    assert not any("<script>" in text or "[link](http" in text for text in markdown)


def test_the_numbers_follow_the_campaigns_own_list(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.NO_TOOL: 3, Outcome.DONE: 77})
    with store.write() as session:
        session.add(stored.campaign)
        stored.campaign.corrupt_outcomes = ["leak"]

    page = open_page("matrix", campaign="c-1", arm="a-1")

    with store.session() as session:
        assert campaigns(session.connection())[0].corrupt_outcomes == ["leak"]
    assert "0/80" in set(page.table[0].value["corrupt"])


@pytest.mark.parametrize("arm", ["a-99", "c-1", "nonsense"])
def test_an_arm_that_is_not_there_leaves_the_drawer_closed(
    open_page: Open, store: Store, arm: str
) -> None:
    decisive_test(store)

    page = open_page("matrix", campaign="c-1", arm=arm)

    assert not page.exception
    assert "Click a cell" in words_of(page)


def test_picking_another_campaign_goes_to_its_matrix(open_page: Open, store: Store) -> None:
    decisive_test(store)
    other = stored_campaign(store, name="other")
    page = open_page("matrix", campaign="c-1")

    page.sidebar.selectbox[0].set_value(stored_id(other.campaign)).run()

    assert "c-2 other" in words_of(page)
