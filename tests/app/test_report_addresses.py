"""Links of reports lead to the pages of the dashboard, and its choices are those of reports."""

import pytest

from app.links import (
    ArmPlace,
    LogsPlace,
    MatrixPlace,
    OverviewPlace,
    Place,
    ReportForm,
    ReportPlace,
    RunPlace,
    SessionPlace,
    VerdictsPlace,
    Withheld,
    address_of,
)
from app.report_choice import command_of, format_of, project_of, taken_out, withheld
from runner.cli.report_command import ReportFormat
from runner.report.document import Link
from runner.report.issue_report import Project
from runner.report.page_addresses import (
    arm_page,
    campaign_page,
    linked,
    logs_page,
    matrix_page,
    run_page,
    session_page,
    verdict_page,
)
from runner.report.report_formats import DocumentFormat


@pytest.mark.parametrize(
    ("address", "place"),
    [
        (campaign_page(3), OverviewPlace(campaign=3)),
        (matrix_page(3), MatrixPlace(campaign=3)),
        (arm_page(5), ArmPlace(arm=5)),
        (run_page(2), RunPlace(run=2)),
        (logs_page(2), LogsPlace(run=2)),
        (session_page(81), SessionPlace(session=81)),
        (verdict_page(3, 7), VerdictsPlace(campaign=3, hypothesis=7)),
    ],
)
def test_a_page_of_a_report_is_a_page_of_the_dashboard(address: str, place: Place) -> None:
    assert address == address_of(place)


def test_ids_in_a_sentence_are_links() -> None:
    assert linked("r-3 of c-1 was left out, see s-81.") == (
        Link("r-3", address_of(RunPlace(run=3))),
        " of ",
        Link("c-1", address_of(OverviewPlace(campaign=1))),
        " was left out, see ",
        Link("s-81", address_of(SessionPlace(session=81))),
        ".",
    )
    assert linked("no id in bar-3 or C=80") == "no id in bar-3 or C=80"


def test_every_form_of_a_report_can_be_chosen() -> None:
    documents = [form for form in ReportForm if form.is_document]
    assert {format_of(form) for form in documents} == set(DocumentFormat)
    assert {form.value for form in ReportForm} == {*ReportFormat, *Project}
    assert {project_of(form) for form in ReportForm} == {None, *Project}
    assert all(withheld(list(taken_out(each))) is each for each in Withheld)


@pytest.mark.parametrize(
    ("place", "command"),
    [
        (ReportPlace(), "decisive report c-4"),
        (ReportPlace(arm=5, form=ReportForm.HTML), "decisive report a-5 --format html"),
        (
            ReportPlace(arm=6, versus=5, form=ReportForm.SGLANG),
            "decisive report a-6 --versus a-5 --for sglang",
        ),
        (
            ReportPlace(session=81, without=Withheld.BOTH),
            "decisive report s-81 --redact hosts --redact prompts",
        ),
        (ReportPlace(form=ReportForm.PDF), "decisive report c-4 --format pdf --output report.pdf"),
        (ReportPlace(form=ReportForm.CSV), "decisive report c-4 --format csv --output tables"),
        (
            ReportPlace(form=ReportForm.BUNDLE, without=Withheld.HOSTS),
            "decisive report c-4 --format bundle --redact hosts --output bundle.zip",
        ),
    ],
)
def test_the_command_is_the_one_that_gives_the_same_bytes(place: ReportPlace, command: str) -> None:
    assert command_of(place, campaign_id=4) == command
