"""What to look at next: at most three places, each with why, the most telling first."""

from app.cell_reading import read_cells
from app.links import RunPlace, SessionPlace, VerdictsPlace
from app.next_looks import next_looks, worst_corrupt_cell
from db.reads.campaigns import VerdictFacts
from db.reads.runs import RunCounts
from db.vocabulary import Outcome, RunState
from tests.app.values import (
    CORRUPT,
    arm_facts,
    campaign_facts,
    run_counts,
    session_facts,
    verdict_facts,
)

CORRUPT_RUN = run_counts(1, counts={Outcome.LEAK: 12, Outcome.DONE: 68})
WEDGED_RUN = run_counts(2, counts={Outcome.ERROR: 75, Outcome.DONE: 5}, wedge_requests=57)
OPEN_VERDICT = verdict_facts(
    headline="inconclusive", said=["x", "Next 1: One more block. (3 runs, 36 min)"]
)


def looks(
    runs: list[RunCounts], verdicts: list[VerdictFacts], *, corrupt: bool = True
) -> list[str]:
    found = next_looks(
        campaign=campaign_facts(),
        cells=read_cells([arm_facts(1)], runs, CORRUPT),
        runs=runs,
        verdicts=verdicts,
        first_corrupt=session_facts(9) if corrupt else None,
    )
    return [look.label for look in found]


def test_corrupt_sessions_come_first_then_wedges_then_the_next_experiment() -> None:
    failed = run_counts(3, state=RunState.FAILED, reason="no port")

    assert looks([CORRUPT_RUN, WEDGED_RUN, failed], [OPEN_VERDICT]) == [
        "Open s-9, first of 12 corrupt sessions",
        "See where r-2 wedged",
        "Decide host-pool",
    ]


def test_a_hypothesis_that_is_decided_but_not_confirmed_is_followed_up() -> None:
    improved = verdict_facts(
        headline="improved_not_eliminated", said=["Next 1: Find what they share. (no run)"]
    )

    assert looks([run_counts(1)], [improved], corrupt=False) == ["Follow up host-pool"]


def test_a_campaign_in_which_nothing_stands_out_has_nothing_to_look_at() -> None:
    clean = run_counts(1, counts={Outcome.DONE: 80})

    assert looks([clean], [verdict_facts(headline="confirmed")], corrupt=False) == []


def test_a_confirmed_hypothesis_asks_for_no_experiment() -> None:
    confirmed = verdict_facts(headline="confirmed", said=["Next 1: Nothing. (no run)"])

    assert looks([run_counts(1)], [confirmed], corrupt=False) == []


def test_a_run_that_does_not_count_is_named_with_its_reason() -> None:
    invalid = run_counts(3, state=RunState.INVALID, reason="fp8 was found\nlog")
    (look,) = next_looks(
        campaign=campaign_facts(),
        cells=[],
        runs=[invalid],
        verdicts=[],
        first_corrupt=None,
    )

    assert (look.place, look.why) == (RunPlace(run=3), "fp8 was found")


def test_a_run_failed_or_is_invalid() -> None:
    failed = run_counts(3, state=RunState.FAILED)
    invalid = run_counts(4, state=RunState.INVALID)

    assert looks([failed], [], corrupt=False) == ["See why r-3 failed"]
    assert looks([invalid], [], corrupt=False) == ["See why r-4 is invalid"]


def test_each_look_leads_to_its_own_page() -> None:
    found = next_looks(
        campaign=campaign_facts(),
        cells=read_cells([arm_facts(1)], [CORRUPT_RUN], CORRUPT),
        runs=[CORRUPT_RUN],
        verdicts=[OPEN_VERDICT],
        first_corrupt=session_facts(9),
    )

    assert [type(look.place) for look in found] == [SessionPlace, VerdictsPlace]


def test_the_worst_cell_is_one_with_corrupt_sessions() -> None:
    clean = read_cells([arm_facts(1)], [run_counts(1, counts={Outcome.DONE: 80})], CORRUPT)

    assert worst_corrupt_cell(clean) is None
