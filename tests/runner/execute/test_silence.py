"""Why the sessions of each arm fell silent, in words."""

from pathlib import Path

from db.vocabulary import Outcome, RunState
from runner.execute.silence import silence_lines
from tests.db.factories import stored_session
from tests.runner.execute.stored_evidence import BASELINE, CHANGED, StoredEvidence


def test_the_most_frequent_reasons_come_first_and_the_rest_is_counted(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    run = stored.add_run(CHANGED, 1, (70, 0, 0))
    stored.add_run(BASELINE, 1)
    reasons = ["stalled"] * 4 + ["connect"] * 3 + ["http_5xx"] * 2 + ["truncated"]
    for index, reason in enumerate(reasons):
        stored_session(
            stored.store, run, Outcome.ERROR, index=index, reason=reason, detail=f"it\n{reason}"
        )

    (line,) = silence_lines(stored.store, stored.campaign_id)

    assert line == (
        "dtype-aware: 10 silent sessions: 4 stalled (such as: it stalled), 3 connect (such as: it "
        "connect), 2 http_5xx (such as: it http_5xx), 1 for other reasons"
    )


def test_runs_that_do_not_count_are_left_out_and_long_details_are_cut(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    stopped = stored.add_run(CHANGED, 1, (0, 0, 0), state=RunState.STOPPED)
    done = stored.add_run(BASELINE, 1, (0, 0, 0))
    stored_session(stored.store, stopped, Outcome.ERROR, reason="stalled")
    stored_session(stored.store, done, Outcome.ERROR, reason="connect", detail="x" * 500)

    (line,) = silence_lines(stored.store, stored.campaign_id)

    assert line.startswith("fp8-sized: 1 silent session: 1 connect (such as: xxx")
    assert line.endswith(f"{200 * 'x'}...)")


def test_faults_of_our_own_are_told_apart_from_silence(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    run = stored.add_run(BASELINE, 1, (70, 0, 0))
    for index in range(2):
        stored_session(
            stored.store, run, Outcome.HARNESS_ERROR, index=index, detail="KeyError:\n'three'"
        )

    (line,) = silence_lines(stored.store, stored.campaign_id)

    assert line == (
        "fp8-sized: 2 sessions failed by our own fault and count nowhere "
        "(such as: KeyError: 'three')"
    )


def test_one_fault_of_our_own_counts_nowhere(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    run = stored.add_run(BASELINE, 1, (70, 0, 0))
    stored_session(stored.store, run, Outcome.HARNESS_ERROR, detail="KeyError")

    (line,) = silence_lines(stored.store, stored.campaign_id)

    assert line.startswith("fp8-sized: 1 session failed by our own fault and counts nowhere (")
