"""Makes the small store that a schema version leaves behind, for later versions to upgrade.

Run `python -m tests.db.keep_store_of_version` once, when a version is released.
"""

import tempfile
from pathlib import Path

import zstandard

from db.campaigns import NewVerdict, add_note, record_verdict
from db.schema_version import SCHEMA_VERSION, revision_name
from db.store import Store
from db.vocabulary import Availability, Direction, Elimination, Headline, Outcome, RunState
from tests.db.factories import (
    stored_campaign,
    stored_id,
    stored_log_events,
    stored_run,
    stored_samples,
)
from tests.db.fresh_stores import fresh_store

ASSETS = Path(__file__).parent / "assets"
COUNTS = {Outcome.LEAK: 1, Outcome.ERROR: 1, Outcome.DONE: 2}


def keep_store(folder: Path) -> None:
    with fresh_store(folder) as store:
        _fill(store)
        file = store.path
    assert file is not None
    name = f"store_{revision_name(SCHEMA_VERSION)}.sqlite.zst"
    (ASSETS / name).write_bytes(zstandard.ZstdCompressor(level=19).compress(file.read_bytes()))


def _fill(store: Store) -> None:
    stored = stored_campaign(store)
    done = stored_run(store, stored.arms[0], counts=COUNTS, with_turns=True)
    stored_run(store, stored.arms[1], state=RunState.DRIVING, counts={Outcome.DONE: 1})
    stored_log_events(store, done, ["Decode transfer timed out: WaitingForInput"])
    stored_samples(store, done, [0.0, 80.0, 2.0])
    add_note(store, stored_id(stored.campaign), "kept for later versions")
    verdict = NewVerdict(
        headline=Headline.REFUTED,
        elimination=Elimination.REFUTED,
        direction=Direction.UNCLEAR,
        availability=Availability.NOT_SHOWN_WORSE,
        sentence="Refuted: 1 of 4 sessions was corrupt.",
        reasons=["criterion failed"],
        inputs={"corrupt": 1, "sessions": 4},
        method="criterion",
    )
    record_verdict(store, stored_id(stored.hypotheses[0]), verdict)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        keep_store(Path(folder))
