"""How the known-good arm of a stored campaign enters the verdict."""

from pathlib import Path

from db.vocabulary import RunFlag
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.verdict_caveats import CaveatKind
from runner.execute.verdicts import reach_verdicts
from tests.runner.execute.stored_evidence import (
    BASELINE,
    CHANGED,
    KNOWN_GOOD,
    StoredEvidence,
    hypothesis,
)


def stored_in(folder: Path, known_good: list[tuple[int, int, int]]) -> StoredEvidence:
    claim = hypothesis(known_good_position=KNOWN_GOOD)
    stored = StoredEvidence(folder, hypotheses=[claim])
    for block in (1, 2, 3):
        stored.add_run(BASELINE, block, (60, 20, 0))
        stored.add_run(CHANGED, block, (79, 1, 0))
    for block, counts in enumerate(known_good, start=1):
        stored.add_run(KNOWN_GOOD, block, counts, sessions_planned=sum(counts))
    return stored


def judged(stored: StoredEvidence) -> tuple[CampaignVerdict, str]:
    """With what is said of the background."""
    (found,) = reach_verdicts(stored.store, stored.campaign_id)
    (said,) = [c.text for c in found.verdict.caveats if c.kind is CaveatKind.BACKGROUND]
    return found.verdict, said


def test_as_much_as_the_known_good_arm_has_does_not_refute_and_is_told(tmp_path: Path) -> None:
    verdict, said = judged(stored_in(tmp_path, [(79, 1, 0), (78, 2, 0), (80, 0, 0)]))

    assert verdict.elimination == "confirmed"
    assert verdict.inputs["rule"]["background"] == 3 / 240
    assert said.startswith("Background: 3 of 240 sessions of the known-good arm fp8 keys were")


def test_a_known_good_arm_without_a_corrupt_session_leaves_no_room(tmp_path: Path) -> None:
    verdict, said = judged(stored_in(tmp_path, [(80, 0, 0)] * 3))

    assert verdict.elimination == "refuted"
    assert said.startswith("The background is zero: 0 of 240 sessions")


def test_a_known_good_arm_of_a_few_sessions_vouches_for_no_background(tmp_path: Path) -> None:
    verdict, said = judged(stored_in(tmp_path, [(5, 5, 0)]))

    assert verdict.elimination == "refuted"
    assert said == ("The background is taken as zero: 10 sessions of fp8 keys gave evidence.")


def test_a_known_good_arm_that_was_measured_badly_vouches_for_none(tmp_path: Path) -> None:
    stored = stored_in(tmp_path, [])
    stored.add_run(KNOWN_GOOD, 1, (70, 10, 0), flags=[RunFlag.CLIENT_SATURATED])

    verdict, said = judged(stored)

    assert verdict.elimination == "refuted"
    assert said.startswith("The background is taken as zero: fp8 keys: the client was too slow")
