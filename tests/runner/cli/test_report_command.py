"""`decisive report`: every form and scope from one store, and a sentence for what does not fit."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from runner.cli.command_list import loaded_command
from runner.errors import UsageError
from tests.app.scenes import decisive_test
from tests.db.factories import stored_campaign
from tests.db.fresh_stores import fresh_store
from tests.runner.report.golden_reports import BASE_URL, KEPT


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("report")
    with fresh_store(folder) as store:
        decisive_test(store)
        yield store.url


@pytest.fixture
def report(store_url: str) -> "Report":
    return Report(store_url)


class Report:
    def __init__(self, store_url: str) -> None:
        self._store_url = store_url

    def run(self, *arguments: str) -> Result:
        command = [*arguments, "--store", self._store_url]
        result = CliRunner().invoke(loaded_command("report"), command)
        if isinstance(result.exception, UsageError):
            return result
        assert result.exit_code == 0, result.output
        return result

    def refusal(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert isinstance(result.exception, UsageError)
        return str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["c-1"], "campaign.md"),
        (["decisive-test", "--format", "html"], "campaign.html"),
        (["a-8"], "arm.md"),
        (["a-10", "--versus", "a-8"], "comparison.md"),
        (["a-10", "--versus", "a-8", "--for", "vllm"], "issue-vllm.md"),
        (["s-1", "--redact", "hosts", "--redact", "prompts"], "session-without-prompts.md"),
    ],
)
def test_it_prints_what_is_kept(report: "Report", arguments: list[str], kept: str) -> None:
    result = report.run(*arguments, "--base-url", BASE_URL)

    assert result.stdout == (KEPT / kept).read_text("utf-8").rstrip("\n") + "\n"


@pytest.mark.parametrize(("name", "begins"), [("r.md", b"# decisive-test"), ("r.pdf", b"%PDF-")])
def test_the_name_of_the_file_tells_the_form(
    report: "Report", tmp_path: Path, name: str, begins: bytes
) -> None:
    report.run("-o", str(tmp_path / name))

    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_dash_is_standard_output_and_no_file(
    report: "Report", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    printed = report.run("a-8", "-o", "-").stdout

    assert printed == report.run("a-8").stdout
    assert list(tmp_path.iterdir()) == []
    assert "standard output" in report.refusal("a-8", "-o", "-", "--format", "pdf")


def test_a_bundle_is_a_zip_file(report: "Report", tmp_path: Path) -> None:
    result = report.run("a-8", "-o", str(tmp_path / "b.zip"), "--transcripts", "1")

    names = ZipFile(tmp_path / "b.zip").namelist()
    assert names[-1] == "manifest.json"
    assert [name for name in names if name.startswith("transcripts/")]
    assert "1 of 33 failing sessions" in result.stderr


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_go_into_a_folder(report: "Report", tmp_path: Path, form: str) -> None:
    report.run("--format", form, "-o", str(tmp_path / "tables"))

    names = ["arms", "runs", "sessions", "turns", "verdicts", "wedges"]
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        f"{name}.{form}" for name in names
    ]


def test_the_tables_of_an_arm_hold_its_runs_alone(report: "Report", tmp_path: Path) -> None:
    report.run("a-8", "--format", "csv", "-o", str(tmp_path / "tables"))

    with (tmp_path / "tables" / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["arm"] for row in rows} == {"a-8"}
    assert [(row["state"], row["n_leak"]) for row in rows] == [
        ("done", "12"),
        ("done", "11"),
        ("done", "10"),
        ("stopped", "0"),
    ]


def test_as_json_the_text_is_in_one_object(report: "Report") -> None:
    told = json.loads(report.run("c-1", "--json", "--base-url", BASE_URL).stdout)

    assert told["format"] == "markdown"
    assert told["text"] == (KEPT / "campaign.md").read_text("utf-8")


def test_a_file_is_not_replaced_unless_told(report: "Report", tmp_path: Path) -> None:
    path = tmp_path / "r.md"
    path.write_text("mine", "utf-8")

    assert "--force replaces it" in report.refusal("-o", str(path))
    assert path.read_text("utf-8") == "mine"

    report.run("-o", str(path), "--force")
    assert path.read_text("utf-8").startswith("# decisive-test")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "bundle"], "bundle is not for standard output: name a file with --output"),
        (["--format", "csv"], "csv is not for standard output: name a folder with --output"),
        (["--format", "pdf", "--json", "-o", "r.pdf"], "--json goes with markdown and html"),
        (["--for", "vllm", "--format", "html"], "--for vllm is Markdown for an issue, not html"),
        (["--base-url", "javascript:alert(1)"], "--base-url is an address such as"),
        (["a-8", "--versus", "bf16"], "--versus compares two arms by their ids"),
        (["c-1", "--versus", "a-8"], "--versus compares two arms by their ids"),
        (["a-8", "--versus", "a-8"], "a-8 cannot be compared with itself"),
        (["a-999"], "has no arm a-999"),
        (["s-99999"], "has no session s-99999"),
        (["c-1", "-o", "/"], "/ is a folder: name a file"),
        (["c-1", "-o", "x.docx"], "--output: x.docx tells no format; end it in .md"),
        (["r-1"], "r-1 is a run: a report is on a campaign, an arm or a session"),
        (["nothing"], "has no campaign 'nothing'"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    report: "Report", arguments: list[str], said: str
) -> None:
    assert said in report.refusal(*arguments)


def test_a_campaign_without_any_arm_has_a_report_that_says_so(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        stored_campaign(store, arms=[])

        said = Report(store.url).run("c-1").stdout

    assert "No arm was planned." in said
    assert "No run was planned." in said
    assert "| arm |" not in said
