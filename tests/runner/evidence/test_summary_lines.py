"""The five lines of every run."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.vocabulary import Outcome
from runner.evidence.counts import SessionCounts, counted
from runner.evidence.rates import Rate
from runner.evidence.summary_lines import summary_lines, whole_percent


def lines(
    outcomes: dict[str, int],
    *,
    wall_s: float | None = 1.0,
    peak_running: float | None = 2.0,
    wedge_lines: int = 0,
    wedge_requests: int = 0,
) -> tuple[str, ...]:
    return summary_lines(
        counted(outcomes),
        wall_s=wall_s,
        peak_running=peak_running,
        wedge_lines=wedge_lines,
        wedge_requests=wedge_requests,
    )


def test_the_real_case_is_printed_to_the_letter() -> None:
    printed = lines({"leak": 5, "error": 75}, wall_s=485.7, wedge_lines=168, wedge_requests=168)

    assert "\n".join(printed) == (
        'wall=485.7s counts={"error": 75, "leak": 5}\n'
        "CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)\n"
        "peak decode #running: 2.0\n"
        "WaitingForInput/aborts during run: 168\n"
        "evidence: 5 of 80 sessions; corrupt 5/5 of those; bounds 6%..100%"
    )


def test_other_outcomes_are_appended_where_there_are_any() -> None:
    every = {outcome: number for number, outcome in enumerate(Outcome, start=1)}

    assert lines({str(outcome): number for outcome, number in every.items()})[1] == (
        "CORRUPTION sessions: 15/36 = 42%  (leak=1 no_tool=2 error=6 ok-ish[done/maxrounds]=15 "
        "malformed=3 wrong=4 degenerate=5 harness_error=9)"
    )


def test_requests_are_given_where_lines_are_not_requests() -> None:
    assert lines({}, wedge_lines=168, wedge_requests=57)[3] == (
        "WaitingForInput/aborts during run: 168 (57 requests)"
    )
    assert lines({})[3] == "WaitingForInput/aborts during run: 0"


def test_a_run_without_sessions_has_no_rate() -> None:
    assert lines({}, wall_s=None, peak_running=None) == (
        "wall=unknown counts={}",
        "CORRUPTION sessions: 0/0 = no rate  (leak=0 no_tool=0 error=0 ok-ish[done/maxrounds]=0)",
        "peak decode #running: unknown",
        "WaitingForInput/aborts during run: 0",
        "evidence: 0 of 0 sessions; corrupt 0/0 of those; no bounds",
    )


def test_our_own_faults_are_shown_and_counted_nowhere() -> None:
    printed = lines({"harness_error": 3, "done": 2})

    assert printed[0] == 'wall=1.0s counts={"done": 2, "harness_error": 3}'
    assert printed[1].startswith("CORRUPTION sessions: 0/2 = 0%  (")
    assert printed[1].endswith("ok-ish[done/maxrounds]=2 harness_error=3)")
    assert printed[4] == "evidence: 2 of 2 sessions; corrupt 0/2 of those; bounds 0%..0%"


def test_a_silent_run_may_have_been_anything() -> None:
    assert lines({"error": 80})[4] == (
        "evidence: 0 of 80 sessions; corrupt 0/0 of those; bounds 0%..100%"
    )


def test_only_what_the_campaign_calls_corrupt_is_counted_as_corruption() -> None:
    counts = counted({"leak": 2, "no_tool": 8, "done": 70}, corrupt=["leak"])

    printed = summary_lines(counts, wall_s=1, peak_running=80, wedge_lines=0, wedge_requests=0)

    assert printed[1] == (
        "CORRUPTION sessions: 2/80 = 3%  (leak=2 no_tool=8 error=0 ok-ish[done/maxrounds]=70)"
    )
    assert printed[2] == "peak decode #running: 80.0"


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (Rate(5, 80), "6%"),
        (Rate(1, 40), "3%"),
        (Rate(0, 80), "0%"),
        (Rate(1, 400), "<1%"),
        (Rate(399, 400), ">99%"),
        (Rate(80, 80), "100%"),
    ],
)
def test_whole_percents_are_rounded_half_up_and_never_to_none_or_all(rate: Rate, text: str) -> None:
    assert whole_percent(rate) == text


@given(st.dictionaries(st.sampled_from(Outcome), st.integers(0, 900)))
def test_the_numbers_of_the_lines_add_up(outcomes: dict[Outcome, int]) -> None:
    counts = SessionCounts(outcomes)
    _, corruption, *_ = summary_lines(
        counts, wall_s=1, peak_running=None, wedge_lines=0, wedge_requests=0
    )

    shown = [int(number) for number in re.findall(r"=(\d+)(?=[ )])", corruption)]
    assert sum(shown) == counts.all + counts.harness_errors
