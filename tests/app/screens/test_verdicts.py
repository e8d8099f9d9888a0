"""The verdict page: three answers, the rule word for word, the runs, the history."""

from db.store import Store
from db.vocabulary import Headline, Outcome, RunState
from tests.app.conftest import Open, words_of
from tests.app.scenes import add_verdict, decisive_test, half_way
from tests.db.factories import stored_campaign, stored_log_events, stored_run, stored_session
from tests.db.fresh_stores import START_US

SAID = [
    "REFUTED. The prediction failed.",
    "Is the fault gone? The prediction failed: 5 corrupt sessions were seen.",
    "Less corruption than in the arm compared with? Not shown: 75 of 80 gave no evidence.",
    "More silence than there? Availability is worse: 75 of 80 silent v 0 of 80.",
    "Basis: one run an arm.",
    "Note: One of 4 hypotheses.",
    "Next 1: Find what wedged decode. (no run)",
]


def test_every_hypothesis_is_listed_with_its_three_answers(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("verdicts", campaign="c-1")

    assert not page.exception
    words = words_of(page)
    assert "host-pool" in words
    assert "fault gone" in words
    assert "not shown" in words


def test_a_verdict_opens_cold_with_its_rule_reasons_and_next_step(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    add_verdict(
        store,
        scene.stored,
        inputs={"said": SAID, "rule": {"alpha": 0.05}},
        reasons=["75 of 80 sessions gave no evidence"],
        decided_at_us=START_US + 1,
    )

    page = open_page("verdicts", hypothesis="h-1")

    assert not page.exception
    words = words_of(page)
    assert "Not shown: 75 of 80 gave no evidence." in words
    assert "Availability is worse: 75 of 80 silent v 0 of 80." in words
    assert "predict:   corrupt == 0" in words
    assert "75 of 80 sessions gave no evidence" in words
    assert "Find what wedged decode." in words
    assert "One of 4 hypotheses." in words
    assert "History of this verdict (2 judged)" in words
    assert page.query_params["campaign"] == "c-1"


def test_an_exploratory_verdict_wears_its_label(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    add_verdict(
        store,
        scene.stored,
        headline=Headline.INCONCLUSIVE,
        sentence="Exploratory: Nothing can be said.",
    )

    words = words_of(open_page("verdicts", hypothesis="h-1"))

    assert "Exploratory: inconclusive" in words


def test_an_unjudged_hypothesis_says_when_it_will_be(open_page: Open, store: Store) -> None:
    half_way(store)

    page = open_page("verdicts", hypothesis="h-1")

    assert not page.exception
    assert "Not judged yet" in words_of(page)


def test_a_hypothesis_that_is_not_there_is_a_friendly_page(open_page: Open, store: Store) -> None:
    decisive_test(store)

    assert "There is no h-77 in this store." in words_of(open_page("verdicts", hypothesis="h-77"))


def test_the_ledger_lists_every_suspect_with_its_verdict_and_its_runs(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)

    page = open_page("verdicts", campaign="c-1")

    assert not page.exception
    ledger = next(table.value for table in page.table if "suspect" in table.value.columns)
    assert "**hicache = on**" in ledger["suspect"].str.replace("\\", "").tolist()
    assert ledger["standing"].str.contains("open").any()
    assert ledger["without it"].str.contains("/compare?a=a-8&b=a-", regex=False).any()


def test_wedges_and_corruption_of_a_campaign_that_stands_still_are_held_against_each_other(
    open_page: Open, store: Store
) -> None:
    made = stored_campaign(store)
    run = stored_run(store, made.arms[0])
    stored_session(store, run, Outcome.LEAK, index=0, decisive_turn=0)
    stored_session(store, run, index=1)

    calm = open_page("verdicts")
    stored_log_events(store, run, ["WaitingForInput"])
    disturbed = open_page("verdicts")

    assert not calm.exception and not disturbed.exception
    assert "Are wedges and corruption linked?" not in words_of(calm)
    assert "In 1 run with both, 1 turn that went corrupt stood" in words_of(disturbed)


def test_a_verdict_is_not_final_while_runs_are_outstanding(open_page: Open, store: Store) -> None:
    add_verdict(store, half_way(store).stored)

    for page in ("verdicts", "overview", "matrix", "campaigns"):
        assert "refuted so far" in words_of(open_page(page)), page
    words = words_of(open_page("verdicts", hypothesis="h-1"))
    assert "Refuted so far" in words
    assert "Not final: 2 of 10 runs done; the rest may change it." in words


def test_a_verdict_is_final_once_every_run_is_done(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    add_verdict(store, stored)
    stored_run(store, stored.arms[0], state=RunState.DONE)

    words = words_of(open_page("verdicts", hypothesis="h-1"))

    assert "Refuted" in words
    assert "so far" not in words
    assert "Not final" not in words


def test_a_note_is_left_beside_the_verdicts_with_its_author(open_page: Open, store: Store) -> None:
    decisive_test(store)
    page = open_page("verdicts", campaign="c-1")

    page.text_area[0].set_value("the pool was patched at noon")
    page.main.text_input[0].set_value("ada")
    next(button for button in page.button if button.label == "Add note").click().run()

    assert not page.exception
    for opened in (page, open_page("verdicts", hypothesis="h-1")):
        assert "the pool was patched at noon" in words_of(opened)
        assert "ada · " in words_of(opened)
