"""What the list of campaigns and the head of a campaign read."""

from sqlalchemy import Connection

from db.campaigns import add_note
from db.reads import campaigns
from db.store import Store
from db.tables.campaigns import VerdictRow
from db.tables.columns import Json
from db.vocabulary import Headline
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session
from tests.db.fresh_stores import START_US


def test_campaigns_come_newest_first(store: Store, connection: Connection) -> None:
    stored_campaign(store, name="older")
    stored_campaign(store, name="newer")

    found = campaigns.campaigns(connection)

    assert [campaign.name for campaign in found] == ["newer", "older"]


def test_a_limit_keeps_the_newest_campaigns(store: Store, connection: Connection) -> None:
    for name in ("a", "b", "c"):
        stored_campaign(store, name=name)

    assert [campaign.name for campaign in campaigns.campaigns(connection, limit=1)] == ["c"]


def test_a_campaign_carries_its_own_list_of_corrupt_outcomes(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)

    found = campaigns.campaign(connection, stored_id(stored.campaign))

    assert found is not None
    assert found.corrupt_outcomes == ["leak", "no_tool", "malformed", "wrong", "degenerate"]


def test_an_unknown_campaign_is_none(connection: Connection) -> None:
    assert campaigns.campaign(connection, 9) is None
    assert campaigns.campaign_source(connection, 9) is None
    assert campaigns.campaign_of_run(connection, 9) is None
    assert campaigns.campaign_of_session(connection, 9) is None


def test_a_session_leads_to_its_campaign(store: Store, connection: Connection) -> None:
    stored_campaign(store, name="another")
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0])
    session = stored_session(store, run)

    assert campaigns.campaign_of_run(connection, stored_id(run)) == stored.campaign.id
    assert campaigns.campaign_of_session(connection, stored_id(session)) == stored.campaign.id


def test_arms_keep_the_order_of_the_file_and_their_levels(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)

    found = campaigns.arms(connection, [stored_id(stored.campaign)])

    assert [arm.position for arm in found] == [0, 1, 2, 3, 4]
    assert list(found[0].levels) == ["index_keys", "hicache", "host_pool", "concurrency"]
    assert found[0].is_baseline


def test_a_hypothesis_without_a_verdict_is_listed_unjudged(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)

    (verdict,) = campaigns.verdicts(connection, [stored_id(stored.campaign)])

    assert verdict.slug == "host-pool"
    assert verdict.headline is None


def test_the_newest_verdict_stands_for_its_hypothesis(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    for headline in (Headline.INCONCLUSIVE, Headline.REFUTED):
        _judge(store, stored_id(stored.hypotheses[0]), headline)

    (verdict,) = campaigns.verdicts(connection, [stored_id(stored.campaign)])

    assert verdict.headline == "refuted"


def test_verdicts_of_other_campaigns_stay_out(store: Store, connection: Connection) -> None:
    other = stored_campaign(store, name="other")
    stored = stored_campaign(store)
    _judge(store, stored_id(other.hypotheses[0]), Headline.REFUTED)

    (verdict,) = campaigns.verdicts(connection, [stored_id(stored.campaign)])

    assert verdict.headline is None


def test_a_verdict_brings_its_three_answers_and_the_lines_that_were_printed(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    inputs = {"said": ["REFUTED. It failed.", "Is the fault gone? No."], "rule": {"alpha": 0.05}}
    _judge(store, stored_id(stored.hypotheses[0]), Headline.REFUTED, inputs=inputs)

    (verdict,) = campaigns.verdicts(connection, [stored_id(stored.campaign)])

    assert verdict.elimination == "inconclusive"
    assert verdict.direction == "unclear"
    assert verdict.availability == "not_shown_worse"
    assert verdict.said == ["REFUTED. It failed.", "Is the fault gone? No."]
    assert verdict.rule == {"alpha": 0.05}


def test_a_verdict_without_its_lines_says_none(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    _judge(store, stored_id(stored.hypotheses[0]), Headline.REFUTED)

    (verdict,) = campaigns.verdicts(connection, [stored_id(stored.campaign)])

    assert verdict.said is None
    assert verdict.rule is None


def test_the_judgements_of_a_hypothesis_come_oldest_first(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    hypothesis_id = stored_id(stored.hypotheses[0])
    for headline in (Headline.INCONCLUSIVE, Headline.REFUTED):
        _judge(store, hypothesis_id, headline)

    found = campaigns.judgements(connection, hypothesis_id)

    assert [judgement.headline for judgement in found] == ["inconclusive", "refuted"]


def test_an_arm_and_a_hypothesis_lead_to_their_campaign(
    store: Store, connection: Connection
) -> None:
    stored_campaign(store, name="another")
    stored = stored_campaign(store)

    arm, hypothesis = stored_id(stored.arms[0]), stored_id(stored.hypotheses[0])

    assert campaigns.campaign_of_arm(connection, arm) == stored.campaign.id
    assert campaigns.campaign_of_hypothesis(connection, hypothesis) == stored.campaign.id
    assert campaigns.campaign_of_arm(connection, 999) is None
    assert campaigns.campaign_of_hypothesis(connection, 999) is None


def test_a_definition_leads_to_the_campaign_that_it_would_go_on_with(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store, definition_key="abc")

    assert campaigns.campaign_by_definition(connection, "abc") == stored.campaign.id
    assert campaigns.campaign_by_definition(connection, "abd") is None
    assert campaigns.campaign_definition_key(connection, stored_id(stored.campaign)) == "abc"


def test_notes_come_newest_first_with_author_and_time(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    add_note(store, stored_id(stored.campaign), "first")
    add_note(store, stored_id(stored.campaign), "second", author="mia")

    found = campaigns.notes(connection, stored_id(stored.campaign))

    assert [(note.text, note.author) for note in found] == [("second", "mia"), ("first", None)]
    assert found[0].written_at_us == START_US


def _judge(
    store: Store, hypothesis_id: int, headline: Headline, *, inputs: Json | None = None
) -> None:
    row = VerdictRow(
        hypothesis_id=hypothesis_id,
        headline=headline,
        elimination="inconclusive",
        direction="unclear",
        availability="not_shown_worse",
        sentence="It says so.",
        inputs=inputs or {},
        method="criterion",
        decided_at_us=START_US,
    )
    with store.write() as session:
        session.add(row)
