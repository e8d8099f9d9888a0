"""Whole runs against a server that stops answering: seen, timed, attributed, and gone on from."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlmodel import col, select

from db.raw_bytes import decompress
from db.store import open_store
from db.tables.observations import WedgeRow
from db.tables.sessions import RawRow, SessionRow
from db.vocabulary import RawKind, RunFlag
from runner.execute.rejudging import rejudge_campaign
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end

# Sessions give up after six seconds, so nothing may stand still for longer than 4.2.
IMPATIENT = "{first_token_s: 6, no_progress_s: 6, session_s: 20}"


def _wedges(folder: Path) -> list[WedgeRow]:
    with open_store(store_url(folder)) as store, store.session() as session:
        return list(session.exec(select(WedgeRow).order_by(col(WedgeRow.id))))


def _sessions(folder: Path, run_id: int) -> list[SessionRow]:
    with open_store(store_url(folder)) as store, store.session() as session:
        chosen = select(SessionRow).where(SessionRow.run_id == run_id)
        return list(session.exec(chosen.order_by(col(SessionRow.session_index))))


def _box(folder: Path) -> dict[str, bytes]:
    with open_store(store_url(folder)) as store, store.session() as session:
        rows = session.exec(select(RawRow).where(col(RawRow.kind).like("wedge_%")))
        return {row.kind: decompress(row.content) for row in rows}


class WedgedRun(NamedTuple):
    folder: Path
    notes: list[str]
    told: Path


@pytest.fixture(scope="module")
def wedged(tmp_path_factory: pytest.TempPathFactory) -> WedgedRun:
    """One run whose server stops answering for good, for every test that reads what is left."""
    folder = tmp_path_factory.mktemp("wedged")
    told = folder / "told.json"
    script = f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read())"
    write_oracle_configs(
        folder,
        levels=["fp8"],
        sessions=8,
        switches=["--hang-after", "14"],
        deadlines=IMPATIENT,
        notify=[sys.executable, "-c", script],
    )
    watching = Watching()
    run_once(folder, watching=watching)
    return WedgedRun(folder, watching.notes, told)


@pytest.fixture(scope="module")
def recovered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run whose server goes on after a wedge."""
    folder = write_oracle_configs(
        tmp_path_factory.mktemp("recovered"),
        levels=["fp8"],
        sessions=6,
        switches=["--hang-after", "12", "--hang-for-s", "9"],
        deadlines="{first_token_s: 30, no_progress_s: 6, session_s: 60}",
    )
    run_once(folder)
    return folder


def test_a_server_that_stops_answering_is_one_wedge_with_its_victims(wedged: WedgedRun) -> None:
    (run,) = stored_runs(wedged.folder)
    (wedge,) = _wedges(wedged.folder)
    sessions = _sessions(wedged.folder, run.id)
    victims = {victim["session_index"] for victim in wedge.victims}
    flagged = {each.session_index for each in sessions if "wedge_victim" in each.flags}
    silent = {each.session_index for each in sessions if each.outcome == "error"}
    assert (run.state, run.wedges) == ("done", 1)
    assert run.n_ended == 8
    assert victims == silent
    assert flagged >= victims
    assert wedge.service == "server"
    assert 3.0 < wedge.evidence["confirmed_after_s"] < 12.0
    assert any("wedge in server" in note for note in wedged.notes)
    assert json.loads(wedged.told.read_text("utf-8").splitlines()[0])["event"] == "wedge"


def test_the_black_box_holds_what_the_server_was_at_that_moment(wedged: WedgedRun) -> None:
    box = _box(wedged.folder)
    assert b"sglang:num_running_reqs" in box[RawKind.WEDGE_METRICS]
    assert b'"version": "oracle"' in box[RawKind.WEDGE_SERVER_INFO]
    assert b"s3cret" not in box[RawKind.WEDGE_SERVER_INFO]
    assert b"thread" in box[RawKind.WEDGE_STACKS]
    requests: list[dict[str, Any]] = json.loads(box[RawKind.WEDGE_IN_FLIGHT])
    assert requests and all(each["quiet_s"] > 1 for each in requests)
    (wedge,) = _wedges(wedged.folder)
    said = {item["kind"]: item["said"] for item in wedge.evidence["black_box"]}
    assert said[RawKind.WEDGE_LOADS] == "status 404"


def test_a_pause_that_ends_before_the_patience_does_is_no_wedge(tmp_path: Path) -> None:
    write_oracle_configs(
        tmp_path,
        levels=["fp8"],
        sessions=8,
        switches=["--hang-after", "14", "--hang-for-s", "2.5"],
        deadlines=IMPATIENT,
    )

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert (run.wedges, run.n_done) == (0, 8)


def test_a_wedge_that_ends_has_an_end_and_its_sessions_go_on(recovered: Path) -> None:
    (run,) = stored_runs(recovered)
    (wedge,) = _wedges(recovered)
    assert (run.wedges, run.n_done) == (1, 6)
    assert wedge.ended_at_us is not None
    assert 7 < (wedge.ended_at_us - wedge.started_at_us) / 1e6 < 13


def test_with_restart_the_run_ends_there_and_the_next_one_has_fresh_servers(
    tmp_path: Path,
) -> None:
    write_oracle_configs(
        tmp_path,
        levels=["fp8"],
        sessions=40,
        blocks=2,
        restart="when_needed",
        switches=["--hang-after", "14"],
        deadlines=IMPATIENT,
        on_wedge="restart",
    )

    end = run_once(tmp_path)

    first, second = stored_runs(tmp_path)
    assert (first.state, second.state) == ("done", "done")
    assert RunFlag.ENDED_AT_WEDGE in first.flags and RunFlag.SERVER_DIED not in first.flags
    assert first.n_ended < 40
    assert first.launch_id != second.launch_id
    assert end.gave_up is None


def test_with_stop_the_campaign_ends_at_the_wedge(tmp_path: Path) -> None:
    write_oracle_configs(
        tmp_path,
        levels=["fp8"],
        sessions=40,
        blocks=3,
        switches=["--hang-after", "14"],
        deadlines=IMPATIENT,
        on_wedge="stop",
    )

    end = run_once(tmp_path)

    assert end.ended_at_wedge == "r-1"
    assert [run.state for run in stored_runs(tmp_path)] == ["done", "planned", "planned"]


def test_judging_again_does_not_forget_whom_a_wedge_caught(recovered: Path) -> None:
    before = [each.flags for each in _sessions(recovered, 1)]

    with open_store(store_url(recovered)) as store:
        rejudge_campaign(store, 1)

    assert [each.flags for each in _sessions(recovered, 1)] == before
    assert any("wedge_victim" in flags for flags in before)
