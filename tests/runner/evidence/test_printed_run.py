import pytest

from db.vocabulary import Availability, Direction, Headline, Outcome
from runner.campaign.prediction import parse_prediction
from runner.errors import RecordedCaseError
from runner.evidence.campaign_verdict import Question, judge_hypothesis
from runner.evidence.count_notation import parse_arm
from runner.evidence.counts import counted
from runner.evidence.counts_question import arm_of_counts
from runner.evidence.printed_run import read_printed_run
from runner.evidence.summary_lines import summary_lines

REAL_CASE = """
wall=485.7s counts={"error": 75, "leak": 5}
CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)
peak decode #running: 2.0
WaitingForInput/aborts during run: 168
"""


def test_the_lines_of_the_real_case_are_read_back() -> None:
    printed = read_printed_run(REAL_CASE)

    assert printed.counts.by_outcome == {Outcome.ERROR: 75, Outcome.LEAK: 5}
    assert (printed.wall_s, printed.peak_running) == (485.7, 2.0)
    assert (printed.wedge_lines, printed.wedge_requests) == (168, None)


def test_the_real_case_reads_refuted_with_no_improvement_shown_and_availability_worse() -> None:
    verdict = judge_hypothesis(
        Question(
            prediction=parse_prediction("corrupt == 0 and wedges == 0"),
            arm=read_printed_run(REAL_CASE).as_arm(),
            versus=arm_of_counts("before", parse_arm("12/80")),
        )
    )

    assert (verdict.headline, verdict.direction, verdict.availability) == (
        Headline.REFUTED,
        Direction.UNCLEAR,
        Availability.WORSE,
    )
    assert "no improvement shown, because 75 of 80 sessions gave no evidence" in verdict.sentence
    assert "Availability is worse" in verdict.sentence
    assert any("168 lines" in caveat.text for caveat in verdict.caveats)


def test_what_a_run_prints_is_what_is_read() -> None:
    counts = counted({"done": 70, "leak": 3, "malformed": 2, "error": 5})
    lines = summary_lines(counts, wall_s=12.5, peak_running=None, wedge_lines=9, wedge_requests=4)

    printed = read_printed_run("noise before\n" + "\n".join(lines) + "\nnoise after")

    assert printed.counts == counts
    assert (printed.wall_s, printed.peak_running) == (12.5, None)
    assert (printed.wedge_lines, printed.wedge_requests) == (9, 4)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no line like"),
        ("wall=1.0s counts={broken}", "no JSON"),
        ('wall=1.0s counts={"leak": 1.5}', "whole numbers"),
        ('wall=1.0s counts={"leak": true}', "whole numbers"),
        ('wall=1.0s counts={"banana": 1}', "name no outcome"),
        ('wall=1.0s counts={"leak": -1}', "name no outcome"),
        (REAL_CASE.replace("5/80", "6/80"), "contradict"),
        (REAL_CASE + REAL_CASE, "the lines of 2 runs; import each by itself"),
        ('wall=1.0s counts={"leak": 5, "leak": 0}', "an outcome twice"),
        ("CORRUPTION sessions: 5/80 = 6%", "does not say how the sessions ended"),
        ("CORRUPTION sessions: 5/80 = 6%  (leak=5 error=7 ok-ish[done/maxrounds]=0)", "contradict"),
    ],
)
def test_lines_that_cannot_be_meant_are_refused(text: str, what: str) -> None:
    with pytest.raises(RecordedCaseError, match=what):
        read_printed_run(text)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(reversed(REAL_CASE.splitlines())),
        REAL_CASE.replace("\n", "\r\n"),
        REAL_CASE.replace("\n", "\r"),
        "\n".join(f"12:03:44 INFO {line} " for line in REAL_CASE.splitlines()),
    ],
    ids=["reversed", "windows", "old mac", "prefixed"],
)
def test_the_order_and_the_ends_of_the_lines_do_not_matter(text: str) -> None:
    assert read_printed_run(text) == read_printed_run(REAL_CASE)


def test_the_line_of_corruption_stands_for_lost_counts() -> None:
    lines = [line for line in REAL_CASE.splitlines() if not line.startswith("wall")]

    printed = read_printed_run("\n".join(lines))

    assert printed.counts == counted({"leak": 5, "error": 75, "done": 0, "no_tool": 0})
    assert printed.wall_s is None


def test_wedge_lines_that_nobody_counted_are_not_none() -> None:
    text = REAL_CASE.replace("WaitingForInput", "Waiting")

    printed = read_printed_run(text)
    lines = summary_lines(
        printed.counts,
        wall_s=None,
        peak_running=None,
        wedge_lines=printed.wedge_lines,
        wedge_requests=printed.wedge_requests,
    )

    assert printed.wedge_lines is None
    assert lines[3] == "WaitingForInput/aborts during run: unknown"
    assert read_printed_run("\n".join(lines)).wedge_lines is None
