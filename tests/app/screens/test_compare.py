"""Two runs, two arms, two sessions side by side."""

import json

from db.store import Store
from db.vocabulary import Outcome, RunState
from tests.app.conftest import Open, words_of
from tests.app.scenes import decisive_test, edit
from tests.db.factories import stored_campaign, stored_run, stored_session

BROKEN = "bf16 · on · fp8-sized · C=80 #1"
WEDGED = "bf16 · on · dtype-aware · C=80 #1"


def test_opened_cold_the_baseline_meets_the_arm_of_the_first_claim(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)

    page = open_page("compare")

    assert not page.exception
    picked = [box.value for box in page.main.selectbox]
    assert picked[0] == scene.runs[BROKEN].id
    assert picked[1] == scene.runs["fp8 · off · fp8-sized · C=80 #1"].id
    assert page.query_params["a"] == f"r-{picked[0]}"


def test_a_run_that_hardly_spoke_forbids_the_comparison_of_rates(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    a, b = scene.runs[BROKEN].id, scene.runs[WEDGED].id

    words = words_of(open_page("compare", a=f"r-{a}", b=f"r-{b}"))

    assert "Corruption rates cannot be compared: 75 of 80 sessions of B gave no evidence" in words
    assert "Differs by host_pool." in words


def test_no_difference_is_given_to_a_run_that_failed(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    a, b = scene.runs[BROKEN], scene.runs["fp8 · off · fp8-sized · C=80 #1"]
    edit(store, b, state=RunState.FAILED, reason="exit 137\nthe end of its log")

    words = words_of(open_page("compare", a=f"r-{a.id}", b=f"r-{b.id}"))

    assert "B failed: exit 137." in words
    assert "No difference is given: B did not finish." in words
    assert "B minus A" not in words


def test_where_nothing_was_silent_an_upper_limit_stands_and_no_zero_percent(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    a, b = scene.runs[BROKEN].id, scene.runs["fp8 · off · fp8-sized · C=80 #1"].id

    page = open_page("compare", a=f"r-{a}", b=f"r-{b}")

    rates = json.loads(page.get("plotly_chart")[0].proto.spec)
    texts = [note["text"] for note in rates["layout"]["annotations"]]
    assert "A  0/80 · ≤\u20094.6\u2009%" in texts[texts.index("<b>Silent</b>") :]


def test_only_differing_settings_are_shown_until_all_are_asked_for(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    ids = {"a": f"r-{scene.runs[BROKEN].id}", "b": f"r-{scene.runs[WEDGED].id}"}
    page = open_page("compare", **ids)
    assert _settings(page) == ["host\\_pool :gray-badge[factor]"]

    page.toggle[0].set_value(False).run()

    assert page.query_params["config"] == "all"
    assert len(_settings(page)) > 3


def test_paired_dialogues_are_counted_and_linked_on_both_sides(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    ids = {"a": f"r-{scene.runs[BROKEN].id}", "b": f"r-{scene.runs[WEDGED].id}"}

    page = open_page("compare", **ids)

    assert "5 pairs gave evidence on both sides" in words_of(page)
    flips = page.dataframe[0].value
    assert flips["A session"].iloc[0].startswith("/session?session=s-")
    assert flips["B session"].iloc[0].startswith("/session?session=s-")


def test_swapping_exchanges_the_sides_in_the_address(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    a, b = scene.runs[BROKEN].id, scene.runs[WEDGED].id
    page = open_page("compare", a=f"r-{a}", b=f"r-{b}")

    next(button for button in page.button if button.label == "Swap").click().run()

    assert (page.query_params["a"], page.query_params["b"]) == (f"r-{b}", f"r-{a}")


def test_one_side_in_the_address_gets_a_partner(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)

    page = open_page("compare", b=f"r-{scene.runs[BROKEN].id}")

    assert not page.exception
    picked = [box.value for box in page.main.selectbox]
    assert picked[1] == scene.runs[BROKEN].id
    assert picked[0] != picked[1]


def test_runs_of_two_campaigns_can_be_laid_side_by_side(open_page: Open, store: Store) -> None:
    one = stored_run(store, stored_campaign(store).arms[0], counts={Outcome.DONE: 2})
    other_campaign = stored_campaign(store, name="other")
    other = stored_run(store, other_campaign.arms[0], counts={Outcome.DONE: 2})

    page = open_page("compare", a=f"r-{one.id}", b=f"r-{other.id}")

    assert not page.exception
    assert "they belong to different campaigns" in words_of(page)


def test_a_campaign_with_one_run_has_nothing_to_compare(open_page: Open, store: Store) -> None:
    stored_run(store, stored_campaign(store).arms[0], counts={Outcome.DONE: 2})

    page = open_page("compare")

    assert not page.exception
    assert "Two runs with ended sessions are needed" in words_of(page)


def test_one_run_alone_in_the_address_says_the_same(open_page: Open, store: Store) -> None:
    stored_run(store, stored_campaign(store).arms[0], counts={Outcome.DONE: 2})

    page = open_page("compare", b="r-1")

    assert not page.exception
    assert "Two runs with ended sessions are needed" in words_of(page)


def test_an_unknown_run_is_a_friendly_page(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("compare", a="r-1", b="r-999")

    assert not page.exception
    assert "There is no r-999 in this store." in words_of(page)


def test_two_arms_are_compared_over_all_their_finished_runs(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("compare", a="a-8", b="a-2")

    assert not page.exception
    words = words_of(page)
    assert "Comparable. Differs by index_keys, hicache." in words
    assert "Corrupt, B minus A: **−13.8 to −13.3 points [" in words  # one session was silent
    blocks = next(table.value for table in page.table if "block" in table.value.columns)
    assert blocks["block"].tolist() == ["1", "2", "3"]
    assert "12/80" in blocks["A"].iloc[0]
    assert blocks["both"].str.contains(r"/compare\?a=r-\d+&b=r-\d+").all()


def test_an_arm_without_a_finished_run_is_told_apart_from_a_clean_one(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.DONE: 2})

    page = open_page("compare", a="a-1", b="a-2")

    assert not page.exception
    assert "B has no finished run" in words_of(page)


def test_two_sides_without_log_events_are_not_called_as_frequent(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    for arm in stored.arms[:2]:
        stored_run(store, arm, counts={Outcome.DONE: 2}, peak_running=31.0)

    page = open_page("compare", a="r-1", b="r-2")

    words = words_of(page)
    assert "No line of the servers' logs meant anything, in A or in B." in words
    assert "as frequent" not in words
    peaks = [table.value for table in page.table if "Peak running" in table.value.to_csv()]
    assert "Peak running,31,31" in peaks[0].to_csv()


def test_the_runs_lead_to_the_arms_with_all_runs(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    page = open_page("compare", a=f"r-{scene.runs[BROKEN].id}", b=f"r-{scene.runs[WEDGED].id}")

    next(button for button in page.button if button.label == "All their runs").click().run()

    assert (page.query_params["a"], page.query_params["b"]) == ("a-8", "a-10")
    assert not page.exception


def test_two_sessions_are_laid_side_by_side_from_where_they_part(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    for arm, outcome in zip(stored.arms, (Outcome.LEAK, Outcome.DONE), strict=False):
        stored_session(store, stored_run(store, arm), outcome)

    page = open_page("compare", a="s-1", b="s-2")

    assert not page.exception
    words = words_of(page)
    assert "They part in turn 1 (round 1), at character 0 of content / call 1" in words
    assert "apart" in words
    assert any("DSML" in str(code.value) for code in page.code)


def test_sessions_of_two_dialogues_are_laid_side_by_side_with_a_warning(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0])
    stored_session(store, run, Outcome.DONE, index=0)
    stored_session(store, run, Outcome.DONE, index=1, turns=())

    page = open_page("compare", a="s-1", b="s-2")

    assert not page.exception
    assert "Two different dialogues" in words_of(page)


def test_two_kinds_cannot_be_compared(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("compare", a="a-8", b="r-1")

    assert not page.exception
    assert "A and B are not of one kind" in words_of(page)


def test_an_arm_alone_in_the_address_asks_for_another(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("compare", a="a-8")

    assert not page.exception
    assert "names one side only" in words_of(page)


def _settings(page: object) -> list[str]:
    tables = page.table  # type: ignore[attr-defined]
    return next(table.value for table in tables if "setting" in table.value)["setting"].tolist()


def test_where_the_same_dialogues_part_first_is_said(open_page: Open, store: Store) -> None:
    arms = stored_campaign(store).arms
    a, b = (stored_run(store, arm) for arm in (arms[0], arms[2]))
    stored_session(store, a, Outcome.LEAK, index=0, decisive_turn=0)
    stored_session(store, a, index=1)
    for index in range(2):
        stored_session(store, b, index=index)

    page = open_page("compare", a=f"r-{a.id}", b=f"r-{b.id}")

    assert not page.exception
    words = words_of(page)
    assert "Of 2 dialogues that A and B both played, 1 were answered alike throughout" in words
    assert (
        "In 1 of 1 the turn that parts is the one in which the session of A went corrupt" in words
    )
