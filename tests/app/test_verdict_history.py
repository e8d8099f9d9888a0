"""The history of a verdict tells the counts of both arms as they were at each judgement."""

from app.verdict_history import history_rows
from db.reads.campaigns import JudgementFacts

RUN = {"run": "r-1", "state": "done", "corrupt": 12, "evidence": 78, "silent": 2}
STOPPED = {"run": "r-2", "state": "stopped", "corrupt": 3, "evidence": 9, "silent": 0}


def judged(number: int, inputs: dict[str, object]) -> JudgementFacts:
    return JudgementFacts(
        id=number,
        headline="improved_not_eliminated",
        sentence="",
        inputs=inputs,
        method="evidence 1",
        decided_at_us=0,
    )


def test_only_runs_that_count_are_counted() -> None:
    (row,) = history_rows([judged(1, {"arm": {"runs": [RUN, STOPPED]}, "versus": {"runs": []}})])

    assert row["arm"] == "1 run: 12 corrupt of 80, 2 silent"
    assert row["compared with"] == "0 runs: 0 corrupt of 0, 0 silent"
    assert row["headline"] == "improved, not eliminated"


def test_the_newest_judgement_stands_first() -> None:
    first, second = judged(1, {}), judged(2, {"arm": {"runs": [RUN]}})

    assert [row["arm"] for row in history_rows([first, second])] == [
        "1 run: 12 corrupt of 80, 2 silent",
        "0 runs: 0 corrupt of 0, 0 silent",
    ]


def test_inputs_of_another_shape_count_as_nothing() -> None:
    (row,) = history_rows([judged(1, {"arm": [1], "versus": {"runs": [5, {"state": "done"}]}})])

    assert row["compared with"] == "1 run: 0 corrupt of 0, 0 silent"
