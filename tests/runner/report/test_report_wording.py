"""No report claims more than its verdicts license, in whichever form and scope."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.reads.campaigns import CampaignFacts
from db.vocabulary import Availability, Direction, Headline
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.claim_guard import unlicensed_claims
from runner.evidence.decision_rule import DecisionRule
from runner.report.campaign_report import campaign_report
from runner.report.document import (
    Block,
    Heading,
    OutcomeFigure,
    Paragraph,
    RateFigure,
    ReportDocument,
    Table,
    TurnFigure,
    Verbatim,
    plain,
)
from runner.report.report_record import CampaignRecord, ReportedVerdict
from runner.report.text_figures import text_figure
from tests.db.fresh_stores import fresh_store
from tests.runner.evidence.test_verdict_properties import runs
from tests.runner.evidence.verdicts import Run, verdict_of
from tests.runner.report.golden_reports import golden_documents


def _record(verdicts: Sequence[CampaignVerdict]) -> CampaignRecord:
    campaign = CampaignFacts(
        id=1,
        name="pool-test",
        question="",
        stack="testbed",
        source_path="",
        order_seed=7,
        corrupt_outcomes=["leak"],
        created_at_us=0,
        code_version="0",
    )
    reported = [
        ReportedVerdict(number, f"h{number}", "", "after", "before", "", verdict)
        for number, verdict in enumerate(verdicts, start=1)
    ]
    return CampaignRecord(
        campaign=campaign, source_text="", arms=(), runs=(), verdicts=reported, examples=()
    )


def _said(block: Block) -> Iterator[str]:
    """What is said in our own words: verbatim text is of others."""
    match block:
        case Heading() | Paragraph():
            yield plain(block.text)
        case Table():
            yield from block.header
            yield from (plain(cell) for row in block.rows for cell in row)
        case RateFigure() | OutcomeFigure() | TurnFigure():
            yield block.caption
            yield text_figure(block)
        case Verbatim():
            return


USERS_TAG = "[FIXED]"
"""Of an arm in the stored scene: a word of who wrote its file."""

NOTHING_LICENSED = (Headline.INCONCLUSIVE, Direction.UNCLEAR, Availability.NOT_SHOWN_WORSE)


def _unlicensed(
    blocks: Sequence[Block], licence: tuple[Headline, Direction, Availability]
) -> list[str]:
    headline, direction, availability = licence
    return [
        claim
        for block in blocks
        for text in _said(block)
        for claim in unlicensed_claims(
            text.replace(USERS_TAG, ""),
            headline=headline,
            direction=direction,
            availability=availability,
        )
    ]


@settings(deadline=None, max_examples=15)
@given(runs(), runs(), st.booleans())
def test_a_report_claims_what_its_verdict_licenses(
    after: list[Run], before: list[Run], is_registered: bool
) -> None:
    rule = DecisionRule(is_registered=is_registered)
    verdict = verdict_of(after, before, rule=rule)

    for section in campaign_report(_record([verdict])).sections:
        is_verdict = section.title == "Verdicts"
        own = (verdict.headline, verdict.direction, verdict.availability)
        licence = own if is_verdict else NOTHING_LICENSED
        assert not _unlicensed(section.blocks, licence), section.title


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReportDocument]:
    folder: Path = tmp_path_factory.mktemp("wording")
    with fresh_store(folder) as store:
        return dict(golden_documents(store))


@pytest.mark.parametrize("scope", ["campaign", "arm", "comparison", "session"])
def test_beside_its_verdicts_no_report_claims_anything(
    scope: str, stored: dict[str, ReportDocument]
) -> None:
    for section in stored[scope].sections:
        if section.title not in ("Verdict", "Verdicts", "Transcript"):
            assert not _unlicensed(section.blocks, NOTHING_LICENSED), section.title


def test_the_guard_would_find_a_claim() -> None:
    assert _unlicensed([Paragraph("The fault is fixed.")], NOTHING_LICENSED) == ["fixed"]
