"""A campaign whose sessions are played by several processes stores what one process stores."""

from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from db.reads.runs import run_proof
from db.store import open_store
from db.tables.sessions import SessionRow, TurnRow
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import run_once, store_url

pytestmark = pytest.mark.end_to_end


def played_by(folder: Path, processes: int) -> list[tuple[Any, ...]]:
    """Of each turn what does not depend on the time; sessions in the order of their numbers."""
    folder.mkdir()
    write_oracle_configs(folder, levels=["fp8"], sessions=8)
    campaign = folder / "campaigns" / "oracle-test.yaml"
    campaign.write_text(f"{campaign.read_text()}\nclient_processes: {processes}\n")
    run_once(folder)
    with open_store(store_url(folder)) as store, store.session() as session:
        rows = session.exec(
            select(SessionRow, TurnRow)
            .join(TurnRow, TurnRow.session_id == SessionRow.id)  # type: ignore[arg-type]
            .order_by(SessionRow.session_index, TurnRow.turn_index)  # type: ignore[arg-type]
        ).all()
        proof = run_proof(session.connection(), 1)
    assert proof is not None
    assert proof.client_health["processes"] == (1 if processes == 1 else processes + 1)
    return [
        (
            *(played.session_index, played.dialogue_key, played.outcome, played.detail),
            *(turn.request_id, turn.due, turn.got, turn.reading, turn.context, turn.prompt_tokens),
        )
        for played, turn in rows
    ]


def test_two_processes_store_what_one_stores(tmp_path: Path) -> None:
    of_two = played_by(tmp_path / "two", 2)

    assert len({row[0] for row in of_two}) == 8
    assert of_two == played_by(tmp_path / "one", 1)
