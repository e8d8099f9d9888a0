"""All that a client of one run needs: it makes the same client and player in any process."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from db.clock import Clock
from runner.campaign.campaign import ScenarioName, Workload
from runner.control.secrets import Secrets
from runner.sessions.agent_loop import SessionSettings, TurnSender
from runner.sessions.chat_request import ChatRequest
from runner.sessions.scenario import Scenario, make_scenario
from runner.sessions.session_player import SessionPlayer
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSetting:
    """`folder` is where files lie that the workload names; `ca_file`: whom to trust, None for all
    that the machine trusts. Headers, proxy and secrets show in no text of it.
    """

    base_url: str
    workload: Workload
    folder: Path
    request: ChatRequest
    request_prefix: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Secrets = field(default_factory=Secrets)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None

    def client(self) -> StreamingClient:
        """Raises OSError where the file of certificates cannot be read."""
        return StreamingClient(
            self.base_url,
            transport=session_transport(tls=self._tls(), proxy=self.proxy),
            deadlines=self.workload.deadlines,
            headers=self.headers,
            secrets=self.secrets,
        )

    def scenario(self) -> Scenario:
        """Raises ConfigError."""
        return make_scenario(self.workload, folder=self.folder)

    def player(self, client: TurnSender, scenario: Scenario, clock: Clock) -> SessionPlayer:
        return SessionPlayer(
            scenario=scenario,
            client=client,
            settings=SessionSettings(
                request=self.request,
                session_s=self.workload.deadlines.session_s,
                request_prefix=self.request_prefix,
            ),
            tool_latency=self.workload.tool_latency,
            seed=self.workload.seed,
            clock=clock,
            scenario_may_block=not isinstance(self.workload.scenario, ScenarioName),
        )

    def _tls(self) -> ssl.SSLContext | None:
        if self.ca_file is None:
            return None
        return ssl.create_default_context(cafile=str(Path(self.ca_file).expanduser()))
