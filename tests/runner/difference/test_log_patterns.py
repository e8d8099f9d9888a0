"""Kinds of log events that one side has more of than the other, the widest gap first."""

import pandas as pd

from runner.difference.log_patterns import pattern_rows

COLUMNS = ["kind", "event_class", "lines", "requests"]
NOTHING = pd.DataFrame([], columns=COLUMNS)


def counts(*rows: tuple[str, int, int]) -> pd.DataFrame:
    return pd.DataFrame([(kind, "wedge", *rest) for kind, *rest in rows], columns=COLUMNS)


def test_the_widest_gap_comes_first_and_equals_are_left_out() -> None:
    a = counts(("retract", 5, 5), ("same", 7, 7), ("abort", 1, 1))
    b = counts(("retract", 9, 8), ("same", 7, 6), ("waiting_for_input", 114, 57))

    rows = pattern_rows(a, b)

    assert [row["kind"] for row in rows] == ["waiting for input", "retract", "abort"]
    assert (rows[0]["A lines"], rows[0]["B lines"], rows[0]["B requests"]) == ("0", "114", "57")
    assert (rows[2]["A lines"], rows[2]["B lines"]) == ("1", "0")


def test_two_silent_logs_have_no_pattern() -> None:
    assert pattern_rows(NOTHING, NOTHING) == []
