"""`decisive blackbox`, on a stored run with a wedge and its box."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from db.raw_bytes import raw_row
from db.tables.observations import WedgeRow
from db.vocabulary import RawKind
from runner.cli.main import app
from runner.errors import UsageError
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import SECOND_US, START_US, fresh_store

METRICS = b"sglang:num_running_reqs 24\n"
CONFIRMED_US = START_US + 24 * SECOND_US


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """r-1 with a wedge whose metrics were kept and whose loads could not be had; r-2 with none."""
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        run = stored_run(store, made.arms[0])
        stored_run(store, made.arms[1])
        wedge = WedgeRow(
            run_id=stored_id(run),
            service="decode",
            started_at_us=START_US + 10 * SECOND_US,
            ended_at_us=START_US + 40 * SECOND_US,
            victims=[{"request_id": "r1-s4-t0", "session_index": 4, "silence_s": 19.5}],
            evidence={
                "where": ["decode dp_rank=1"],
                "confirmed_by": "a canary request had no answer within 7 s",
                "confirmed_at_us": CONFIRMED_US,
                "black_box": [
                    {
                        "kind": "wedge_metrics",
                        "service": "decode",
                        "size_bytes": len(METRICS),
                        "said": "status 200",
                    },
                    {
                        "kind": "wedge_loads",
                        "service": "decode",
                        "size_bytes": 0,
                        "said": "no answer within 5 s",
                    },
                ],
            },
        )
        kept = raw_row(
            stored_id(run), RawKind.WEDGE_METRICS, METRICS, at_us=CONFIRMED_US, service="decode"
        )
        with store.write() as session:
            session.add_all([wedge, kept])
        return store.url


def blackbox(store_url: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["blackbox", *arguments, "--store", store_url])


def test_each_wedge_is_told_with_what_was_kept_and_what_could_not_be_had(store_url: str) -> None:
    lines = blackbox(store_url, "r-1").stdout.splitlines()

    assert lines[0].startswith("wedge 1: decode dp_rank=1, from ")
    assert "for 30.0 s; 1 request waited (a canary request had no answer" in lines[0]
    assert lines[1:] == [
        "  decode metrics: 27 bytes (status 200)",
        "  decode loads: nothing (no answer within 5 s)",
    ]


def test_a_box_is_written_as_the_bytes_that_were_stored(store_url: str, tmp_path: Path) -> None:
    result = blackbox(store_url, "r-1", "--to", str(tmp_path / "boxes"), "--json")

    (folder,) = [Path(each) for each in json.loads(result.stdout)["folders"]]
    assert folder == tmp_path / "boxes" / "r-1-wedge-1"
    assert sorted(each.name for each in folder.iterdir()) == ["decode-metrics", "wedge.json"]
    assert (folder / "decode-metrics").read_bytes() == METRICS
    told = json.loads((folder / "wedge.json").read_text("utf-8"))
    assert told["victims"][0]["request_id"] == "r1-s4-t0"
    assert [each["file"] for each in told["box"]] == ["decode-metrics", None]


def test_nothing_that_was_written_before_is_written_over(store_url: str, tmp_path: Path) -> None:
    blackbox(store_url, "r-1", "--to", str(tmp_path / "boxes"))

    error = blackbox(store_url, "r-1", "--to", str(tmp_path / "boxes")).exception

    assert isinstance(error, UsageError) and "is there already" in str(error)


def test_a_folder_that_cannot_be_made_is_named(store_url: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    error = blackbox(store_url, "r-1", "--to", str(tmp_path / "file")).exception

    assert isinstance(error, UsageError) and "cannot be written" in str(error)


def test_a_run_without_a_wedge_says_so_and_one_that_is_not_there_is_refused(
    store_url: str, tmp_path: Path
) -> None:
    assert blackbox(store_url, "r-2").stdout == "r-2 has no wedge\n"

    for name in ("r-99", "s-1", "wedge"):
        error = blackbox(store_url, name).exception
        assert isinstance(error, UsageError) and f"has no run {name}" in str(error)
