"""Which events stand near failing turns more often than near others of their number and run."""

import pytest
from scipy.stats import fisher_exact

from db.reads.failures import LogMoment, WedgeMoment
from db.reads.transcripts import TurnMoment
from runner.failures.disturbances import linkage_of
from runner.failures.enrichment import enriched_events
from runner.failures.failure_words import enrichment_lines


def moment(
    session: int, *, number: int = 0, outcome: str = "done", decisive: int | None = None
) -> TurnMoment:
    """A turn of one second; sessions start 100 s apart, so that events are near one only."""
    return TurnMoment(
        run_id=1,
        session_id=session,
        session_index=session,
        outcome=outcome,
        decisive_turn=decisive,
        turn_index=number,
        request_id=f"r1-s{session}-t{number}",
        started_at_us=session * 100_000_000 + number * 10_000_000,
        duration_s=1.0,
        prompt_tokens=None,
        completion_tokens=None,
        cached_tokens={},
    )


def near(session: int, kind: str, event_class: str = "abort") -> LogMoment:
    return LogMoment(
        run_id=1,
        at_us=session * 100_000_000 + 500_000,
        kind=kind,
        event_class=event_class,
        request_ref=None,
    )


TURNS = [moment(n, outcome="leak", decisive=0) for n in range(6)] + [
    moment(n) for n in range(6, 20)
]


def test_a_kind_is_judged_as_by_fisher_in_one_run_and_turn() -> None:
    events = [near(n, "evict") for n in (0, 1, 2, 3, 4, 6, 7)] + [
        near(n, "info") for n in range(20)
    ]

    found = enriched_events(TURNS, events, failing=["leak"])

    (evict, info) = found
    assert (evict.kind, evict.failing_near, evict.failing) == ("evict", 5, 6)
    assert (evict.others_near, evict.others) == (2, 14)
    p = fisher_exact([[5, 1], [2, 12]], alternative="greater").pvalue
    assert evict.association.p_more == pytest.approx(p)
    assert evict.adjusted_p == pytest.approx(2 * p)
    assert info.association.strata == 0


def test_turns_after_a_failure_and_failures_of_another_kind_are_left_out() -> None:
    turns = [
        moment(0, outcome="leak", decisive=0),
        moment(0, number=1, outcome="leak", decisive=0),
        moment(1, outcome="error", decisive=0),
        moment(2),
    ]

    (found,) = enriched_events(turns, [near(0, "evict")], failing=["leak"])

    assert (found.failing, found.others) == (1, 1)


def test_without_a_failure_nothing_is_enriched() -> None:
    assert enriched_events([moment(1)], [near(1, "evict")], failing=["leak"]) == ()
    assert "No log event" in enrichment_lines([])[0]


def test_silent_turns_give_no_evidence_of_a_link() -> None:
    """They stand near a stall by their nature."""
    turns = [*TURNS, moment(30, outcome="error", decisive=0)]

    found = linkage_of(turns, [near(0, "abort_request")], [], corrupt=["leak"])

    assert found.test is not None
    assert (found.test.corrupt, found.test.others) == (6, 14)


def test_only_events_that_disturb_count_and_an_open_wedge_lasts_to_the_end() -> None:
    wedge = WedgeMoment(run_id=1, started_at_us=0, ended_at_us=None)

    calm = linkage_of(TURNS, [near(0, "batch", "info")], [], corrupt=["leak"])
    open_ended = linkage_of(TURNS, [], [wedge], corrupt=["leak"])

    assert calm.runs_with_disturbance == 0
    assert open_ended.test is not None
    assert open_ended.test.others_median_s == 0
