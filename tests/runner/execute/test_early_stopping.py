"""Which arms the stop rule spares, from stored runs."""

from pathlib import Path

import pytest

from db.vocabulary import ClaimKind, RunState
from runner.campaign.campaign import Campaign
from runner.campaign.matrix import expand_arms
from runner.evidence.stopping import StopReason
from runner.execute.early_stopping import may_end_at_first_corrupt, settled_arm
from runner.execute.verdicts import reach_verdicts
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled
from tests.runner.execute.stored_evidence import (
    BASELINE,
    CHANGED,
    KNOWN_GOOD,
    StoredEvidence,
    hypothesis,
)

FREQUENT = (40, 40, 0)
FAULTY = (68, 12, 0)


def reason(stored: StoredEvidence, position: int) -> StopReason | None:
    advice = settled_arm(stored.store, stored.campaign_id, position)
    return None if advice is None else advice.reason


def test_a_fixed_plan_spares_nothing(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path, stop="fixed")
    stored.add_run(CHANGED, 1, (70, 10, 0))
    stored.add_run(BASELINE, 1, FREQUENT)

    assert reason(stored, CHANGED) is None


def test_the_arm_compared_with_rests_once_lower_is_shown_while_the_changed_arm_goes_on(
    tmp_path: Path,
) -> None:
    stored = StoredEvidence(tmp_path, stop="decided")
    for block in (1, 2):
        stored.add_run(BASELINE, block, FREQUENT)
        stored.add_run(CHANGED, block, (40, 0, 0), sessions_planned=40)

    assert reason(stored, CHANGED) is None
    assert reason(stored, BASELINE) is StopReason.DIRECTION_SHOWN


def test_a_confirmation_spares_both_arms_and_the_verdict_says_the_same(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path, stop="decided")
    for block in (1, 2):
        stored.add_run(BASELINE, block, FREQUENT)
        stored.add_run(CHANGED, block)
    stored.plan(blocks=3)

    assert reason(stored, CHANGED) is StopReason.CONFIRMED
    assert reason(stored, BASELINE) is StopReason.CONFIRMED
    (judged,) = reach_verdicts(stored.store, stored.campaign_id)
    assert judged.verdict.headline == "confirmed"
    (said,) = [c.text for c in judged.verdict.caveats if c.kind == "stopped_early"]
    assert said == (
        "Ended early: 1 of 3 runs of dtype-aware not made; 1 of 3 runs of fp8-sized not made. The "
        "price: runs that were not made would have narrowed the limits."
    )


def test_an_arm_of_two_hypotheses_goes_on_until_both_are_answered(tmp_path: Path) -> None:
    second = hypothesis(slug="other", arm_position=KNOWN_GOOD, definition_key="other")
    stored = StoredEvidence(tmp_path, stop="decided", hypotheses=[hypothesis(), second])
    stored.add_run(BASELINE, 1, FREQUENT)
    stored.add_run(CHANGED, 1, (3, 1, 0))

    assert reason(stored, CHANGED) is StopReason.FIRST_CORRUPT
    assert reason(stored, BASELINE) is None


def test_several_hypotheses_raise_the_bar_of_each(tmp_path: Path) -> None:
    twins = [hypothesis(slug=f"h{i}", definition_key=f"h{i}") for i in range(40)]
    for name, hypotheses in (("one", twins[:1]), ("forty", twins)):
        folder = tmp_path / name
        folder.mkdir()
        stored = StoredEvidence(folder, stop="decided", hypotheses=hypotheses)
        for block in (1, 2):
            stored.add_run(BASELINE, block, FAULTY)
            stored.add_run(CHANGED, block)
        found = reason(stored, CHANGED)
        assert found is (StopReason.CONFIRMED if name == "one" else None)


def test_a_claim_to_reduce_is_not_ended_by_a_corrupt_session(tmp_path: Path) -> None:
    claim = hypothesis(goal=ClaimKind.REDUCE, predicted_rate=0.06, predict="wedges == 0")
    stored = StoredEvidence(tmp_path, stop="decided", hypotheses=[claim])
    stored.add_run(BASELINE, 1, FAULTY)
    stored.add_run(CHANGED, 1, (77, 3, 0))

    assert reason(stored, CHANGED) is None


def test_a_prediction_that_allows_some_is_not_ended_by_the_first_one(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path, stop="decided", hypotheses=[hypothesis(predict="corrupt<=5")])
    stored.add_run(BASELINE, 1, FAULTY)
    stored.add_run(CHANGED, 1, (77, 3, 0))
    assert reason(stored, CHANGED) is None

    stored.add_run(CHANGED, 2, (77, 3, 0))

    assert reason(stored, CHANGED) is not None


def test_the_first_planned_look_spares_what_it_answers(tmp_path: Path) -> None:
    claim = hypothesis(goal=ClaimKind.REDUCE, predicted_rate=0.06, predict="wedges == 0")
    stored = StoredEvidence(tmp_path, stop="two_looks", hypotheses=[claim])
    stored.add_run(BASELINE, 1, FREQUENT)
    stored.add_run(CHANGED, 1, (77, 3, 0))
    assert reason(stored, CHANGED) is None

    stored.add_run(BASELINE, 2, FREQUENT)
    stored.add_run(CHANGED, 2, (76, 4, 0))
    stored.plan(blocks=4)

    assert reason(stored, CHANGED) is StopReason.PLANNED_LOOK
    assert reason(stored, BASELINE) is StopReason.PLANNED_LOOK
    (judged,) = reach_verdicts(stored.store, stored.campaign_id)
    assert (judged.verdict.headline, judged.verdict.direction) == ("confirmed", "lower")
    assert "over both planned looks" in judged.verdict.answers.direction


def test_a_look_that_does_not_answer_asks_for_the_other_two_runs(tmp_path: Path) -> None:
    claim = hypothesis(goal=ClaimKind.REDUCE, predicted_rate=0.06, predict="wedges == 0")
    stored = StoredEvidence(tmp_path, stop="two_looks", hypotheses=[claim])
    for block, (before, after) in enumerate(((12, 8), (11, 9)), start=1):
        stored.add_run(BASELINE, block, (80 - before, before, 0))
        stored.add_run(CHANGED, block, (80 - after, after, 0))
    stored.plan(blocks=4)

    assert reason(stored, CHANGED) is None
    (judged,) = reach_verdicts(stored.store, stored.campaign_id)
    assert judged.verdict.headline == "inconclusive"
    assert judged.verdict.reason_codes == {"invalid:runs_missing"}


def test_the_known_good_arm_is_never_spared(tmp_path: Path) -> None:
    claim = hypothesis(known_good_position=KNOWN_GOOD)
    stored = StoredEvidence(tmp_path, stop="decided", hypotheses=[claim])
    stored.add_run(KNOWN_GOOD, 1)
    stored.add_run(CHANGED, 1, (40, 40, 0))
    stored.add_run(BASELINE, 1, FREQUENT)

    assert reason(stored, KNOWN_GOOD) is None


def test_an_arm_without_a_run_of_its_own_is_not_spared(tmp_path: Path) -> None:
    stored = StoredEvidence(tmp_path, stop="decided")
    stored.add_run(BASELINE, 1, FREQUENT)
    stored.add_run(CHANGED, 1, (3, 1, 0), state=RunState.INVALID)

    assert reason(stored, CHANGED) is None


DECIDED = spoiled(CAMPAIGN, "corrupt: [leak", "stop: decided\ncorrupt: [leak")
KNOWN = "known_good: {keys: fp8, cache: on, pool: fp8-sized, concurrency: 80}\nworkload:\n"


def cut_arms(loaded: Campaign) -> set[str]:
    return {arm.name for arm in expand_arms(loaded) if may_end_at_first_corrupt(loaded, arm)}


def test_the_arm_compared_with_plays_all_its_sessions() -> None:
    names = cut_arms(campaign(DECIDED))

    assert "bf16 · cache=on · dtype-aware · C=80" in names
    assert "bf16 · cache=on · fp8-sized · C=80" not in names


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("corrupt == 0 and wedges == 0", "corrupt <= 3 and wedges == 0"),
        ("corrupt == 0 and wedges == 0", "wedges == 0"),
        ("versus: baseline", "goal: reduce\n    predicted_rate: 0.06"),
        ("workload:\n", KNOWN),
    ],
)
def test_where_one_corrupt_session_answers_nothing_no_run_ends_at_it(old: str, new: str) -> None:
    assert "bf16 · cache=on · dtype-aware · C=80" not in cut_arms(
        campaign(spoiled(DECIDED, old, new))
    )


def test_the_known_good_arm_plays_all_its_sessions() -> None:
    loaded = campaign(spoiled(DECIDED, "workload:\n", KNOWN))

    assert "fp8 · cache=on · fp8-sized · C=80" not in cut_arms(loaded)
