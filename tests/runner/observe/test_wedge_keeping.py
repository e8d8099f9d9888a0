"""Wedges as files in a folder of the user's."""

import json
from pathlib import Path

from db.clock import SystemClock
from db.vocabulary import RawKind
from runner.observe.black_box import BoxItem
from runner.observe.wedge_keeping import WedgeFolder
from runner.observe.wedge_spans import WedgeRule, WedgeSpan

SPAN = WedgeSpan(
    rule=WedgeRule.ENGINE,
    engines=frozenset(),
    where=("server",),
    started_s=10.0,
    confirmed_s=24.0,
    confirmed_by="no answer",
    ended_s=40.0,
    end="tokens were made again",
)
BOX = [BoxItem(RawKind.WEDGE_METRICS, "../server", b"a 1\n", "status 200")]


async def test_a_wedge_is_a_folder_with_what_was_kept_and_how_it_ended(tmp_path: Path) -> None:
    keeper = WedgeFolder(tmp_path, SystemClock())

    await keeper.opened(SPAN, BOX, open_requests=2)
    await keeper.ended(SPAN)

    folder = keeper.folder_of(SPAN)
    assert folder is not None and folder.parent == tmp_path
    assert (folder / ".._server-metrics").read_bytes() == b"a 1\n"
    assert json.loads((folder / "wedge.json").read_text("utf-8"))["open_requests"] == 2
    assert json.loads((folder / "end.json").read_text("utf-8"))["seconds"] == 30.0


async def test_a_folder_that_cannot_be_written_is_told_and_ends_no_watch(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    keeper = WedgeFolder(tmp_path / "file", SystemClock())

    await keeper.opened(SPAN, BOX, open_requests=2)
    await keeper.ended(SPAN)

    assert keeper.folder_of(SPAN) is None
    assert "cannot be written: Not a directory" in str(keeper.trouble)
