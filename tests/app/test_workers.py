"""Which workers the sidebar names, and when it calls one silent."""

from app.widgets.sidebar import shown_workers, silence_line, worker_line
from db.reads.work import WorkerFacts

SECOND_US = 1_000_000
NOW_US = 10_000 * SECOND_US


def worker(
    name: str, *, age_s: float, ended: bool = False, doing: str | None = None
) -> WorkerFacts:
    beat = NOW_US - round(age_s * SECOND_US)
    return WorkerFacts(
        name=name,
        host="here",
        process_id=1,
        started_at_us=0,
        heartbeat_at_us=beat,
        doing=doing,
        ended_at_us=beat if ended else None,
    )


def test_a_worker_that_said_goodbye_is_not_named() -> None:
    assert shown_workers([worker("w", age_s=1, ended=True)], now_us=NOW_US) == []


def test_a_worker_that_fell_silent_lately_is_still_named() -> None:
    silent = worker("w", age_s=41)

    assert shown_workers([silent], now_us=NOW_US) == [silent]
    assert "silent for 41" in worker_line(silent, now_us=NOW_US)


def test_a_worker_that_has_been_gone_for_long_is_not_named() -> None:
    assert shown_workers([worker("w", age_s=3_600)], now_us=NOW_US) == []


def test_a_living_worker_says_what_it_is_at() -> None:
    line = worker_line(worker("w", age_s=2, doing="r-3 driving"), now_us=NOW_US)

    assert line.replace("\\", "") == "Worker w  \nr-3 driving  \nheartbeat 2 s ago"


def test_a_run_whose_worker_is_silent_or_gone_does_not_look_as_if_it_moved() -> None:
    alive, silent = worker("a", age_s=1), worker("b", age_s=41)
    gone = worker("c", age_s=2, ended=True)
    every = [alive, silent, gone]

    assert silence_line("a", every, now_us=NOW_US) is None
    assert "silent for 41" in (silence_line("b", every, now_us=NOW_US) or "")
    assert silence_line("c", every, now_us=NOW_US) is not None
    assert silence_line("unknown", every, now_us=NOW_US) is not None


def test_nobody_is_told_to_start_a_worker_while_another_one_is_there() -> None:
    silent = worker("w", age_s=41)

    assert "start `decisive worker`" in worker_line(silent, now_us=NOW_US)
    assert "start" not in worker_line(silent, now_us=NOW_US, one_beats=True)
