"""Failures that look alike are one cluster, whatever is their own."""

import pytest

from db.reads.failures import FailingTurn, LogMoment
from runner.failures.clusters import cluster_failures
from runner.failures.failure_words import cluster_lines
from runner.failures.signature import signature_of, without_its_own
from tests.runner.difference.turns import LEAKED, turn

DUE = {"kind": "call", "name": "look_sky", "arguments": {"city": "oslo"}}


def leaked(text: str, *, index: int = 2, session: int = 1, run: int = 1) -> FailingTurn:
    found = turn(
        index,
        text,
        due=DUE,
        markup=[{"field": "content", "start": 0, "end": len(text), "family": "dsml"}],
        flags=["markup_in_content"],
        outcome="leak",
        session_id=session,
        request_id=f"r{run}-s{session}-t{index}",
    )
    return FailingTurn(run, session, session, "leak", found)


def event(at_s: float, kind: str, *, run: int = 1, request: str | None = None) -> LogMoment:
    return LogMoment(
        run_id=run,
        at_us=round(at_s * 1_000_000),
        kind=kind,
        event_class="wedge",
        request_ref=request,
    )


def test_leaks_group_by_where_the_call_breaks() -> None:
    wrong_name = LEAKED.replace("look_sky", "look_moon")
    failing = [
        leaked(wrong_name, session=1),
        leaked(LEAKED.replace("look_sky", "x"), session=2, run=2),
        leaked(LEAKED.replace("oslo", "rome"), session=3),
    ]

    first, second = cluster_failures(failing, arm_of_run={1: "bf16", 2: "fp8"})

    assert (
        first.signature.text
        == "leak, dsml markup in content, broken at the function name, call due"
    )
    assert (first.sessions, first.runs, first.by_arm) == (2, 2, {"bf16": 1, "fp8": 1})
    assert (first.by_turn, first.by_tool) == ({2: 2}, {"look_sky": 2})
    assert second.signature.words[0].endswith("parameter value")


def test_examples_come_from_several_runs_first() -> None:
    failing = [leaked(LEAKED, session=n, run=1 if n < 5 else 2) for n in range(1, 7)]

    (cluster,) = cluster_failures(failing, arm_of_run={1: "a", 2: "a"})

    assert cluster.examples == (1, 5, 2)


def test_events_near_the_turn_are_counted_once_a_session() -> None:
    """The turn runs from second 2 to 3; what is logged up to 5 s before it is near."""
    events = [
        event(1, "waiting"),
        event(2.5, "waiting"),
        event(9, "late"),
        event(2.5, "elsewhere", run=2),
        event(50, "own_abort", request="r1-s1-t2"),
        event(2.5, "other_abort", request="r1-s7-t2"),
    ]

    (cluster,) = cluster_failures([leaked(LEAKED)], arm_of_run={1: "a"}, events=events)

    assert cluster.by_event == {"waiting": 1, "own_abort": 1}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "A call of a_b was due; timed out after 12.5 s",
            "A call of c was due; timed out after 9 s",
        ),
        ("room 4bf92f35-77b3-4da6-a3ce-929d0e0e4736 gone", "room 4bf92f3577b34da6 gone"),
        ("cannot reach 10.0.0.1:8000", "cannot reach 10.2.3.4:9000"),
        ("bad token 'x; y'", "bad token 'z'"),
    ],
)
def test_what_is_an_errors_own_makes_no_other_cluster(first: str, second: str) -> None:
    ours, theirs = (
        signature_of("error", turn(0, reason="http_5xx", http_status=500, detail=text))
        for text in (first, second)
    )

    assert ours == theirs


def test_the_text_of_an_error_stays_readable_and_short() -> None:
    assert without_its_own("KV pool of 12,345 pages is full") == "KV pool of N pages is full"
    assert len(without_its_own("long " * 1000)) <= 120


def test_hostile_fields_of_another_shape_are_left_out() -> None:
    odd = turn(0, markup=["x", 3], flags=[None], got={"content": 5}, due={"kind": "call"})

    assert signature_of("leak", odd).outcome == "leak"


def test_the_lines_name_sessions_turns_and_what_was_logged() -> None:
    clusters = cluster_failures(
        [leaked(LEAKED)], arm_of_run={1: "bf16"}, events=[event(2, "waiting")]
    )

    text = "\n".join(cluster_lines(clusters, sessions=4))

    assert "1 session failed in 1 way" in text
    assert "e.g. s-1" in text and "turn 3: 1; bf16: 1" in text
    assert "logged near it: waiting: 1" in text
    assert cluster_lines([], sessions=0) == ["No run that is done has a session yet."]
    assert cluster_lines([], sessions=80) == ["None of 80 sessions failed."]


def test_imported_failures_have_no_time_and_nothing_that_was_due() -> None:
    found = turn(0, "x", started_at_us=0, markup=[{"field": "content", "family": "dsml"}])

    clusters = cluster_failures([FailingTurn(1, 1, 1, "leak", found)], arm_of_run={1: "a"})

    assert clusters[0].signature.words == ("dsml markup in content",)
    assert "at times that are not known; e.g. s-1" in "\n".join(cluster_lines(clusters, sessions=1))
