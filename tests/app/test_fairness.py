"""Two runs are compared only where that is fair, and what is not fair is said."""

from app.fairness import Fairness, Side, judge_fairness
from db.vocabulary import Outcome, RunFlag, RunState
from runner.difference.configuration import ConfigRow
from runner.evidence.counts import counted
from tests.app.values import run_counts

CLEAN = {Outcome.DONE: 80}


def side(letter: str, counts: dict[Outcome, int], run_id: int = 0, **columns: object) -> Side:
    number = run_id or {"A": 1, "B": 2}[letter]
    run = run_counts(number, counts=counts, **columns)  # type: ignore[arg-type]
    return Side(letter, (run,), counted(run.counts))


def judged(a: Side, b: Side, rows: tuple[ConfigRow, ...] = ()) -> Fairness:
    return judge_fairness(a, b, rows, same_campaign=True)


def test_two_finished_runs_of_a_campaign_are_comparable() -> None:
    rows = (ConfigRow("factor", "host_pool", "x", "y"), ConfigRow("factor", "hicache", "on", "on"))

    fairness = judged(side("A", CLEAN), side("B", CLEAN), rows)

    assert fairness.problems == []
    assert fairness.notes == []
    assert fairness.declared == ["host_pool"]


def test_a_run_that_gave_hardly_any_evidence_forbids_a_rate() -> None:
    silent = side("B", {Outcome.LEAK: 5, Outcome.ERROR: 75})

    fairness = judged(side("A", CLEAN), silent)

    assert fairness.problems == ["75 of 80 sessions of B gave no evidence"]


def test_a_stopped_run_forbids_a_rate() -> None:
    fairness = judged(side("A", CLEAN, state=RunState.STOPPED), side("B", CLEAN))

    assert fairness.problems == ["A is stopped: its sessions stand outside all rates"]


def test_why_a_run_failed_is_told_without_the_log_that_follows() -> None:
    failed = side("B", {}, state=RunState.FAILED, reason="exit 137 before it was ready.\nlog line")

    fairness = judged(side("A", CLEAN), failed)

    assert fairness.notes == ["B failed: exit 137 before it was ready"]


def test_servers_of_which_nothing_is_known_do_not_differ() -> None:
    rows = (ConfigRow("server", "server model", "tiny", "–"),)

    assert judged(side("A", CLEAN), side("B", CLEAN), rows).notes == [
        "nothing is known of the servers of B"
    ]


def test_a_run_is_not_compared_with_itself() -> None:
    assert (
        "A and B are the same run"
        in judged(side("A", CLEAN, run_id=4), side("B", CLEAN, run_id=4)).problems
    )


def test_flags_blocks_and_sizes_are_to_be_minded() -> None:
    flagged = side("A", CLEAN, flags=[RunFlag.CLIENT_SATURATED], block=2, sessions_planned=40)

    fairness = judged(flagged, side("B", CLEAN, block=1))

    assert fairness.notes == [
        "A: the client was saturated",
        "A planned 40 sessions, B 80",
        "they ran in different blocks (2 and 1)",
    ]


def test_undeclared_differences_of_the_servers_are_counted() -> None:
    rows = (ConfigRow("server", "server version", "1", "2"),)

    fairness = judged(side("A", CLEAN), side("B", CLEAN), rows)

    assert fairness.notes == ["the servers describe themselves differently in 1 fact"]


def test_other_campaigns_may_have_other_dialogues() -> None:
    fairness = judge_fairness(side("A", CLEAN), side("B", CLEAN), (), same_campaign=False)

    assert "different campaigns" in fairness.notes[0]
