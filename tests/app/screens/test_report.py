"""The report page shows what the command line writes, byte for byte, as text."""

from db.reads.campaigns import campaign
from db.store import Store
from runner.report.campaign_report import campaign_report
from runner.report.markdown import to_markdown
from runner.report.stored_record import campaign_record
from tests.app.conftest import Open, words_of
from tests.app.scenes import decisive_test
from tests.db.factories import stored_campaign


def test_the_page_shows_the_bytes_of_the_command_line(open_page: Open, store: Store) -> None:
    decisive_test(store)
    with store.session() as session:
        facts = campaign(session.connection(), 1)
    assert facts is not None

    page = open_page("report", campaign="c-1")

    assert not page.exception
    assert page.code[0].value.rstrip() == (
        to_markdown(campaign_report(campaign_record(store, facts))).rstrip()
    )


def test_a_campaign_without_a_run_has_a_report_too(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    page = open_page("report", campaign="c-1")

    assert not page.exception
    assert "Download Markdown" in "".join(
        button.proto.label for button in page.get("download_button")
    )


def test_without_any_campaign_the_page_says_so(open_page: Open, store: Store) -> None:
    assert "No campaign yet" in words_of(open_page("report"))
