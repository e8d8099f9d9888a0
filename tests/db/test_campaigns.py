from dataclasses import replace

import pytest
from sqlmodel import select

from db.campaigns import (
    NewArm,
    NewCampaign,
    NewHypothesis,
    NewVerdict,
    add_note,
    find_campaign,
    record_verdict,
    register_campaign,
)
from db.errors import RowMissingError
from db.store import Store
from db.tables.campaigns import CampaignRow, VerdictRow
from db.vocabulary import Availability, Direction, Elimination, Headline, Outcome, RunState
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import START_US, FakeClock

BASELINE = NewArm(
    position=0,
    name="bf16 · C=80",
    levels={"index_keys": "bf16", "concurrency": 80},
    concurrency=80,
    sessions_per_run=80,
    is_baseline=True,
)
FIXED = replace(BASELINE, position=1, name="fp8 · C=80", tag="FIXED", is_baseline=False)
NEW = NewCampaign(
    name="smoke",
    question="Is it the dtype?",
    stack="testbed",
    source_path="configs/campaigns/smoke.yaml",
    source_text="campaign: smoke\n",
    definition={"campaign": "smoke"},
    definition_key="abc",
    order_seed=2**40,
    corrupt_outcomes=[Outcome.LEAK, Outcome.MALFORMED],
    code_version="0.1.0",
    arms=[BASELINE, FIXED],
    hypotheses=[
        NewHypothesis(
            slug="dtype",
            claim="the dtype is the cause",
            arm_position=1,
            versus_position=0,
            predict="corrupt == 0",
            tolerate=0.05,
            definition_key="strict",
        )
    ],
)
REFUTED = NewVerdict(
    headline=Headline.REFUTED,
    elimination=Elimination.REFUTED,
    direction=Direction.UNCLEAR,
    availability=Availability.WORSE,
    sentence="Refuted: 5 of 80 sessions were corrupt.",
    reasons=["criterion failed"],
    inputs={"corrupt": 5, "sessions": 80},
    method="criterion",
)


def test_a_campaign_is_stored_with_its_arms_and_its_claims(store: Store) -> None:
    campaign, arms, hypotheses, is_new = register_campaign(store, NEW)

    assert is_new
    assert (campaign.name, campaign.order_seed) == ("smoke", 2**40)
    assert campaign.corrupt_outcomes == ["leak", "malformed"]
    assert campaign.created_at_us == START_US
    assert [(arm.name, arm.tag, arm.is_baseline) for arm in arms] == [
        ("bf16 · C=80", None, True),
        ("fp8 · C=80", "FIXED", False),
    ]
    (hypothesis,) = hypotheses
    assert (hypothesis.arm_id, hypothesis.versus_arm_id) == (arms[1].id, arms[0].id)
    assert hypothesis.recorded_at_us == START_US


def test_the_same_definition_is_the_same_campaign(store: Store, clock: FakeClock) -> None:
    first = register_campaign(store, NEW)
    clock.advance_s(100)

    again = register_campaign(store, replace(NEW, question="Asked in other words?"))

    assert not again.is_new
    assert again.campaign.id == first.campaign.id
    assert again.campaign.question == "Is it the dtype?"
    assert again.campaign.created_at_us == START_US
    assert [arm.id for arm in again.arms] == [arm.id for arm in first.arms]
    assert [each.id for each in again.hypotheses] == [each.id for each in first.hypotheses]


def test_a_claim_that_changes_before_the_first_run_takes_the_place_of_the_old_one(
    store: Store,
) -> None:
    first = register_campaign(store, NEW)
    record_verdict(store, stored_id(first.hypotheses[0]), REFUTED)
    looser = replace(NEW.hypotheses[0], tolerate=0.2, definition_key="looser")

    again = register_campaign(store, replace(NEW, hypotheses=[looser]))

    assert [(each.slug, each.tolerate) for each in again.hypotheses] == [("dtype", 0.2)]
    assert again.hypotheses[0].is_registered


def test_a_claim_that_changes_after_a_run_began_stands_unregistered_beside_the_old_one(
    store: Store, clock: FakeClock
) -> None:
    first = register_campaign(store, NEW)
    stored_run(store, first.arms[0], state=RunState.STOPPED)
    clock.advance_s(-10_000)  # a clock that is set back hides nothing
    looser = replace(NEW, hypotheses=[replace(NEW.hypotheses[0], definition_key="looser")])

    register_campaign(store, looser)
    again = register_campaign(store, looser)
    loosest = register_campaign(
        store, replace(NEW, hypotheses=[replace(NEW.hypotheses[0], definition_key="loosest")])
    )

    assert [(each.slug, each.is_registered) for each in again.hypotheses] == [
        ("dtype", True),
        ("dtype~2", False),
    ]
    assert [each.slug for each in loosest.hypotheses] == ["dtype", "dtype~2", "dtype~3"]


def test_a_claim_that_is_dropped_after_a_run_began_stays(store: Store) -> None:
    first = register_campaign(store, NEW)
    stored_run(store, first.arms[0])

    again = register_campaign(store, replace(NEW, hypotheses=[]))

    assert [(each.slug, each.is_registered) for each in again.hypotheses] == [("dtype", True)]


def test_another_definition_of_the_same_name_is_another_campaign(store: Store) -> None:
    first = register_campaign(store, NEW)
    second = register_campaign(store, replace(NEW, definition_key="def"))

    assert second.is_new
    assert second.campaign.id != first.campaign.id


def test_a_claim_about_an_arm_that_does_not_exist_stores_nothing(store: Store) -> None:
    lost = replace(NEW.hypotheses[0], arm_position=9)

    with pytest.raises(KeyError):
        register_campaign(store, replace(NEW, hypotheses=[lost]))

    with store.session() as session:
        assert session.exec(select(CampaignRow)).all() == []


def test_a_stored_campaign_is_found_whole(store: Store) -> None:
    registered = register_campaign(store, NEW)

    found = find_campaign(store, stored_id(registered.campaign))

    assert [arm.name for arm in found.arms] == ["bf16 · C=80", "fp8 · C=80"]
    assert [hypothesis.slug for hypothesis in found.hypotheses] == ["dtype"]
    with pytest.raises(RowMissingError, match="no campaign c-99"):
        find_campaign(store, 99)


def test_a_changed_verdict_adds_a_row_and_overwrites_none(store: Store, clock: FakeClock) -> None:
    hypothesis_id = stored_id(stored_campaign(store).hypotheses[0])
    refuted = record_verdict(store, hypothesis_id, REFUTED)
    clock.advance_s(10)

    more = replace(REFUTED, inputs={"corrupt": 6, "sessions": 160})
    record_verdict(store, hypothesis_id, more)

    assert verdicts(store) == [("refuted", 5), ("refuted", 6)]
    assert refuted.decided_at_us == START_US


def test_the_same_verdict_again_adds_nothing(store: Store, clock: FakeClock) -> None:
    hypothesis_id = stored_id(stored_campaign(store).hypotheses[0])
    first = record_verdict(store, hypothesis_id, REFUTED)
    clock.advance_s(10)

    again = record_verdict(store, hypothesis_id, REFUTED)

    assert again.id == first.id
    assert len(verdicts(store)) == 1


def test_a_verdict_that_comes_back_is_a_row_of_its_own(store: Store) -> None:
    hypothesis_id = stored_id(stored_campaign(store).hypotheses[0])
    unclear = replace(REFUTED, headline=Headline.INCONCLUSIVE)

    for verdict in (REFUTED, unclear, REFUTED):
        record_verdict(store, hypothesis_id, verdict)

    assert [headline for headline, _ in verdicts(store)] == ["refuted", "inconclusive", "refuted"]


def test_a_verdict_on_nothing_is_refused(store: Store) -> None:
    with pytest.raises(RowMissingError, match="no hypothesis 9"):
        record_verdict(store, 9, REFUTED)


def test_notes_are_kept_with_their_time(store: Store) -> None:
    campaign_id = stored_id(stored_campaign(store).campaign)

    note = add_note(store, campaign_id, "the fan was loud", author="ada")

    assert (note.text, note.author, note.written_at_us) == ("the fan was loud", "ada", START_US)
    with pytest.raises(RowMissingError):
        add_note(store, 99, "about nothing")


def verdicts(store: Store) -> list[tuple[str, int]]:
    with store.session() as session:
        rows = session.exec(select(VerdictRow)).all()
    return [(row.headline, row.inputs["corrupt"]) for row in rows]
