"""Runs the oracle campaign in this process and hands out what the store holds afterwards."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from db.reads.runs import RunCounts, runs
from db.store import Store, open_store
from db.tables.runs import RunRow
from db.vocabulary import RunState
from runner.campaign.config_folder import ConfigFolder
from runner.cli.opening import open_campaign
from runner.execute.campaign_loop import CampaignEnd, run_campaign
from runner.execute.heartbeat import heartbeat
from runner.execute.progress import RunOfCampaign
from runner.execute.run_setting import Patience
from runner.execute.stop_request import StopRequest
from runner.execute.worker_identity import holder_of
from runner.sessions.played_session import PlayedSession


@dataclass
class Watching:
    """Keeps what it is told; `on_session` may act in the middle of a run."""

    on_session: Callable[[PlayedSession], None] = lambda played: None
    notes: list[str] = field(default_factory=list)
    states: list[RunState] = field(default_factory=list)
    lines: list[tuple[str, ...]] = field(default_factory=list)
    missing: int | None = None

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        self.missing = missing

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        self.states.append(state)

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        self.on_session(played)

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        self.lines.append(lines)

    def note(self, text: str) -> None:
        self.notes.append(text)


def run_once(
    configs: Path,
    *,
    watching: Watching | None = None,
    stop: StopRequest | None = None,
    environment: Mapping[str, str] = os.environ,
    store: Store | None = None,
) -> CampaignEnd:
    opened = open_campaign("oracle-test", ConfigFolder(configs))

    async def run(opened_store: Store) -> CampaignEnd:
        holder = holder_of("test")
        async with heartbeat(opened_store, holder, doing=lambda: "a test"):
            return await run_campaign(
                opened.campaign,
                opened.stack,
                store=opened_store,
                worker=holder,
                stop=stop or StopRequest(),
                progress=watching or Watching(),
                patience=Patience(flush_s=1.0, drain_s=1.0),
                environment=environment,
            )

    with store or open_store(store_url(configs)) as opened_store:
        return asyncio.run(run(opened_store))


def store_url(configs: Path) -> str:
    return f"sqlite:///{configs / 'decisive.db'}"


def stored_runs(configs: Path) -> list[RunCounts]:
    with open_store(store_url(configs)) as store, store.session() as session:
        return runs(session.connection(), [1])
