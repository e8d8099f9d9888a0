"""What happens while a campaign runs, told to whoever shows it."""

from dataclasses import dataclass
from typing import Protocol

from db.tables.runs import RunRow
from db.vocabulary import RunState
from runner.campaign.campaign import Arm
from runner.sessions.played_session import PlayedSession


@dataclass(frozen=True, slots=True)
class RunOfCampaign:
    """A run with its place: the `number`th of `of` that this start of the campaign has to do."""

    run_id: int
    arm: Arm
    block: int
    number: int
    of: int


class ProgressListener(Protocol):
    """Every method returns at once and raises nothing."""

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        """`missing` of `total` runs are still to be done."""
        ...

    def run_state(self, run: RunOfCampaign, state: RunState) -> None: ...

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None: ...

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        """`lines` are empty where no session ended."""
        ...

    def note(self, text: str) -> None:
        """Something a person should know, in one sentence."""
        ...


class SilentProgress:
    """For callers that show nothing."""

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        return

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        return

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        return

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        return

    def note(self, text: str) -> None:
        return
