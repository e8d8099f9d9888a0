"""What all runs of one campaign share, given to each of them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from db.recorder import Recorder
from db.store import Store
from runner.campaign.campaign import Campaign
from runner.campaign.stack_file import Stack
from runner.control.secrets import Secrets
from runner.execute.launcher import Launcher
from runner.execute.progress import ProgressListener
from runner.execute.stop_request import StopRequest
from runner.observe.event_catalogue import EventCatalogue


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server may refuse a flush before a run, and take to drain after one."""

    flush_s: float = 20.0
    drain_s: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetting:
    """What all runs of one campaign share."""

    store: Store
    recorder: Recorder
    http: httpx.AsyncClient
    campaign: Campaign
    stack: Stack
    launcher: Launcher
    worker: str
    stop: StopRequest
    progress: ProgressListener
    catalogue: EventCatalogue
    patience: Patience = Patience()
    secrets: Secrets = field(default_factory=Secrets)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
