"""Passes on what happens in a campaign, without the secrets that a note may quote."""

from db.tables.runs import RunRow
from db.vocabulary import RunState
from runner.control.secrets import Secrets
from runner.execute.progress import ProgressListener, RunOfCampaign
from runner.sessions.played_session import PlayedSession


class HidingProgress:
    """Notes quote servers and commands; all else was made of what is stored."""

    def __init__(self, listener: ProgressListener, secrets: Secrets) -> None:
        self._listener = listener
        self._secrets = secrets

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        self._listener.campaign_started(name, campaign_id, missing=missing, total=total)

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        self._listener.run_state(run, state)

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        self._listener.session_ended(run, played)

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        self._listener.run_ended(run, row, lines)

    def note(self, text: str) -> None:
        self._listener.note(self._secrets.hidden_text(text))
