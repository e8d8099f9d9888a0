"""Which cells of a stored campaign are taken for evidence on what corruption needs."""

from pathlib import Path

from db.launches import add_fingerprint, record_launch
from db.vocabulary import RunFlag
from runner.execute.attribution import attribution_lines
from runner.execute.campaign_evidence import gather_evidence
from tests.db.factories import stored_id
from tests.runner.execute.stored_evidence import BASELINE, CHANGED, StoredEvidence


def lines_of(stored: StoredEvidence) -> tuple[str, ...]:
    return attribution_lines(gather_evidence(stored.store, stored.campaign_id))


def corrupt_baseline(folder: Path) -> StoredEvidence:
    stored = StoredEvidence(folder)
    for block in (1, 2):
        stored.add_run(BASELINE, block, (40, 40, 0))
    return stored


def test_a_clean_cell_says_which_level_corruption_needs(tmp_path: Path) -> None:
    stored = corrupt_baseline(tmp_path)
    for block in (1, 2):
        stored.add_run(CHANGED, block)

    assert lines_of(stored)[0].startswith("Corruption needs pool=fp8-sized: 80 of 160 with it; ")


def test_a_cell_that_was_not_exercised_is_no_evidence_and_named(tmp_path: Path) -> None:
    stored = corrupt_baseline(tmp_path)
    for block in (1, 2):
        stored.add_run(CHANGED, block, flags=[RunFlag.NOT_EXERCISED])

    assert lines_of(stored) == (
        "Not used: dtype-aware: a path that its levels switch was not seen in use (r-3, r-4).",
    )


def test_a_cell_that_differs_in_what_no_level_declares_is_no_evidence(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path)
    for position, version in ((BASELINE, "1"), (CHANGED, "2")):
        launch = record_launch(
            stored.store, stored.campaign_id, stack="testbed", commands={}, process_ids={}
        )
        add_fingerprint(
            stored.store, stored_id(launch), service="server", facts={"version": version}
        )
        counts = (40, 40, 0) if position == BASELINE else (80, 0, 0)
        stored.add_run(position, 1, counts, launch_id=stored_id(launch))

    assert lines_of(stored) == (
        "Not used: dtype-aware: the arms also differ in server version: 2 v 1.",
    )
