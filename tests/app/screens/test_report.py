"""The report page hands out what the command line writes, byte for byte."""

import base64
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.links import ReportForm, Withheld
from app.report_choice import taken_out
from app.report_data import bundle_file, table_file, tables_of
from db.reads.campaigns import campaign
from db.store import Store
from db.vocabulary import Outcome
from runner.cli.command_list import loaded_command
from runner.report.redaction import Redacted
from runner.report.stored_report import ReportScope, scope_of_arm
from tests.app.conftest import Open, words_of
from tests.app.scenes import HOSTILE, decisive_test
from tests.db.factories import stored_campaign, stored_run


def _written(store: Store, command: str) -> str:
    """What a command prints that is written as the page writes it."""
    words = shlex.split(command)
    assert words[:2] == ["decisive", "report"]
    arguments = [*words[2:], "--store", store.url]
    return CliRunner().invoke(loaded_command("report"), arguments).stdout


@pytest.mark.parametrize(
    "parameters",
    [
        {"campaign": "c-1"},
        {"arm": "a-7", "without": "hosts-and-prompts"},
        {"arm": "a-9", "versus": "a-7", "form": "sglang"},
        {"session": "s-1", "form": "vllm", "without": "prompts"},
    ],
    ids=["campaign", "arm", "comparison for an issue", "session for an issue"],
)
def test_the_page_shows_the_bytes_of_the_command_that_it_names(
    open_page: Open, store: Store, parameters: dict[str, str]
) -> None:
    decisive_test(store)

    page = open_page("report", **parameters)

    assert not page.exception
    command, shown = page.code
    assert shown.value.rstrip() == _written(store, command.value).rstrip()


def test_html_is_shown_in_a_frame_without_an_origin(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("report", campaign="c-1", form="html")

    (frame,) = page.get("iframe")
    kind, _, encoded = frame.proto.src.partition(";base64,")
    assert kind == "data:text/html;charset=utf-8"
    made = base64.b64decode(encoded).decode()
    assert made.rstrip() == _written(store, page.code[0].value).rstrip()
    assert HOSTILE not in made


def test_a_pdf_is_made_when_it_is_asked_for(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("report", campaign="c-1", form="pdf")

    assert not page.exception
    assert page.code[0].value == "decisive report c-1 --format pdf --output report.pdf"
    assert [button.proto.label for button in page.get("download_button")] == ["Download PDF"]


def test_an_arm_of_another_campaign_is_left_out_of_the_address(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)

    page = open_page("report", campaign="c-1", arm="a-999", versus="a-1")

    assert page.code[0].value == "decisive report c-1"


def test_a_campaign_without_a_run_has_a_report_too(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    page = open_page("report", campaign="c-1")

    assert not page.exception
    assert "Download Markdown" in "".join(
        button.proto.label for button in page.get("download_button")
    )


def test_without_any_campaign_the_page_says_so(open_page: Open, store: Store) -> None:
    assert "No campaign yet" in words_of(open_page("report"))


def _write(store: Store, command: str, output: Path) -> None:
    """As the command that the page names does, but to another place."""
    words = shlex.split(command)
    assert words[:2] == ["decisive", "report"]
    place = words.index("--output")
    arguments = [*words[2:place], "--output", str(output), *words[place + 2 :]]
    result = CliRunner().invoke(loaded_command("report"), [*arguments, "--store", store.url])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("subject", [{"campaign": "c-1"}, {"arm": "a-7"}], ids=["campaign", "arm"])
def test_each_table_is_offered_in_the_bytes_of_the_command(
    open_page: Open, store: Store, tmp_path: Path, form: str, subject: dict[str, str]
) -> None:
    decisive_test(store)
    scope = scope_of_arm(store, 7) if "arm" in subject else _whole(store)

    page = open_page("report", form=form, without="hosts", **subject)

    assert not page.exception
    _write(store, page.code[0].value, tmp_path / "tables")
    written = {file.stem: file.read_bytes() for file in (tmp_path / "tables").iterdir()}
    without = (Redacted.HOSTS,)
    offered = {
        table.name: table_file(scope, without, ReportForm(form), table)
        for table in tables_of(scope, without)
    }
    assert offered == written
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels == [f"Download {name}" for name in offered]


@pytest.mark.parametrize("without", ["nothing", "hosts-and-prompts"])
def test_the_bundle_is_offered_in_the_bytes_of_the_command(
    open_page: Open, store: Store, tmp_path: Path, without: str
) -> None:
    decisive_test(store)

    page = open_page("report", campaign="c-1", form="bundle", without=without)

    assert not page.exception
    assert [button.proto.label for button in page.get("download_button")] == ["Download Bundle"]
    _write(store, page.code[0].value, tmp_path / "bundle.zip")
    offered = bundle_file(_whole(store), taken_out(Withheld(without)))
    assert offered == (tmp_path / "bundle.zip").read_bytes()


def _whole(store: Store) -> ReportScope:
    with store.session() as session:
        facts = campaign(session.connection(), 1)
    assert facts is not None
    return ReportScope(facts)


def test_a_report_on_very_many_sessions_is_made_when_it_is_asked_for(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.DONE: 10_500})
    stored_run(store, stored.arms[1], counts={Outcome.DONE: 10_500})

    page = open_page("report", campaign="c-1")

    (command,) = page.code
    assert "It is about 21,000 sessions in 2 runs" in words_of(page)
    assert command.value.startswith("decisive report")
    next(each for each in page.button if each.label == "Make the report").click()
    assert len(page.run().code) == 2
    assert len(open_page("report", arm="a-1").code) == 2
