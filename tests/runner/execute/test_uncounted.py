"""Sessions that erred in a way the campaign does not count are told, not hidden."""

from pathlib import Path

from db.vocabulary import RunState
from runner.execute.uncounted import uncounted_lines
from tests.runner.execute.stored_evidence import BASELINE, CHANGED, StoredEvidence


def test_each_arm_says_which_errors_it_leaves_uncounted(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    for block in (1, 2):
        stored.add_run(CHANGED, block, (8, 1, 0), n_no_tool=3, n_wrong=1)
    stored.add_run(BASELINE, 1)

    assert uncounted_lines(stored.store, stored.campaign_id) == (
        "dtype-aware: 8 sessions not counted as corrupt (6 no_tool, 2 wrong): "
        "a weak model errs so by itself",
    )


def test_runs_that_do_not_count_and_outcomes_that_do_are_left_out(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    stored.add_run(CHANGED, 1, (8, 1, 0), n_no_tool=3, state=RunState.STOPPED)
    stored.add_run(BASELINE, 1, (5, 5, 0))

    assert uncounted_lines(stored.store, stored.campaign_id) == ()
