"""What a job finds when the campaign did not come to be, and where its files cannot be written."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from db.store import Store
from runner.cli.console import ExitStatus
from runner.cli.gate_files import SUMMARY_VARIABLE, GateFiles, summary_of_job
from runner.errors import UsageError
from tests.db.factories import stored_campaign, stored_id
from tests.db.fresh_stores import fresh_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as opened:
        yield opened


def test_a_stack_that_did_not_come_up_is_an_error(store: Store, tmp_path: Path) -> None:
    gate = GateFiles(tmp_path / "out.xml", tmp_path / "summary.md")
    notes = ("the service server did not start with --api-key s3cr3tkey",)

    gate.write(store, None, name="nightly", status=ExitStatus.OUR_FAULT, notes=notes)

    (case,) = ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase")
    (error,) = case
    assert (error.tag, error.attrib["type"]) == ("error", "our_fault")
    assert "did not start" in error.attrib["message"]
    told = (tmp_path / "out.xml").read_text("utf-8") + (tmp_path / "summary.md").read_text("utf-8")
    assert "Exit status 4" in told
    assert "s3cr3tkey" not in told


def test_a_campaign_that_was_cut_off_is_an_error_whatever_it_showed(
    store: Store, tmp_path: Path
) -> None:
    campaign_id = stored_id(stored_campaign(store).campaign)
    gate = GateFiles(junit=tmp_path / "out.xml")

    for status in (ExitStatus.INTERRUPTED, ExitStatus.COULD_NOT_SAY):
        gate.write(store, campaign_id, name="n", status=status, notes=("stopped",))

        cases = list(ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase"))
        assert cases[-1].attrib["name"] == "ran to its end"
        assert [child.tag for child in cases[-1]] == ["error"]


def test_a_summary_is_added_to_and_junit_replaced(store: Store, tmp_path: Path) -> None:
    gate = GateFiles(tmp_path / "out.xml", tmp_path / "summary.md")
    for path in (tmp_path / "out.xml", tmp_path / "summary.md"):
        path.write_text("of another step\n", "utf-8")

    gate.write(store, None, name="nightly", status=ExitStatus.FINE)

    assert "of another step" not in (tmp_path / "out.xml").read_text("utf-8")
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("of another step\n# nightly")


def test_nothing_is_written_where_nothing_was_asked_for(store: Store, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())

    GateFiles().write(store, None, name="nightly", status=ExitStatus.FINE)

    assert sorted(tmp_path.iterdir()) == before


def test_the_job_names_its_summary_where_it_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    within, beyond = tmp_path / "summary.md", tmp_path / "none" / "summary.md"

    assert summary_of_job({}) is None
    assert summary_of_job({SUMMARY_VARIABLE: str(within)}) == within
    assert capsys.readouterr().err == ""
    assert summary_of_job({SUMMARY_VARIABLE: str(beyond)}) is None
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["none/out.xml", "."])
def test_what_could_not_be_written_is_said_before_anything_runs(tmp_path: Path, where: str) -> None:
    with pytest.raises(UsageError, match="name a file in a folder that is there"):
        GateFiles(junit=tmp_path / where).check()


def test_junit_and_summary_are_not_written_into_one_file(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(tmp_path / "out.xml")

    with pytest.raises(UsageError, match="name two files"):
        GateFiles(junit=tmp_path / "out.xml", summary=tmp_path / "link.md").check()


def test_a_gate_file_is_not_standard_output(tmp_path: Path) -> None:
    for gate in (GateFiles(junit=Path("-")), GateFiles(summary=Path("-"))):
        with pytest.raises(UsageError, match="standard output has the tables"):
            gate.check()


def test_the_summary_is_there_also_where_junit_cannot_be_written(
    store: Store, tmp_path: Path
) -> None:
    gate = GateFiles(junit=tmp_path / "gone" / "out.xml", summary=tmp_path / "summary.md")

    with pytest.raises(UsageError, match="cannot write"):
        gate.write(store, None, name="nightly", status=ExitStatus.FINE)

    assert "Exit status 0" in (tmp_path / "summary.md").read_text("utf-8")
