"""Takes requests from the queue, one after the other, and runs their campaigns."""

import asyncio
from dataclasses import dataclass

from db.errors import LeaseLostError, StoreError
from db.identifiers import IdKind, format_id
from db.launch_queue import claim, finish, name_campaign
from db.launch_queue import heartbeat as renew_request
from db.stack_lease import Holder
from db.store import Store
from db.tables import LaunchRequestRow, RunRow
from db.vocabulary import LaunchRequestState, RunState
from runner.campaign.campaign_file import load_campaign
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.stack_file import load_stack
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.errors import RunnerError
from runner.evidence.verdict_text import headline_line
from runner.execute.campaign_loop import CampaignEnd, run_campaign
from runner.execute.heartbeat import heartbeat
from runner.execute.held import held_by
from runner.execute.progress import ProgressListener, RunOfCampaign
from runner.execute.stop_request import StopRequest
from runner.execute.verdicts import reach_verdicts
from runner.sessions.played_session import PlayedSession

POLL_S = 0.5


@dataclass(slots=True)
class Worker:
    """One process that serves the queue. `stop` ends it after the sessions in flight."""

    store: Store
    configs: ConfigFolder
    holder: Holder
    stop: StopRequest
    progress: ProgressListener
    doing: str | None = None

    async def work(self, *, until_empty: bool = False) -> None:
        """Serves requests until told to stop; with `until_empty`, until none waits."""
        async with heartbeat(self.store, self.holder, doing=lambda: self.doing):
            while not self.stop.soft.is_set():
                request = claim(self.store, self.holder.name)
                if request is not None:
                    await self._serve(request)
                elif until_empty:
                    return
                else:
                    await self._rest()

    async def _rest(self) -> None:
        try:
            await asyncio.wait_for(self.stop.soft.wait(), timeout=POLL_S)
        except TimeoutError:
            return

    async def _serve(self, request: LaunchRequestRow) -> None:
        assert request.id is not None
        name = format_id(IdKind.REQUEST, request.id)
        self.doing = f"{name}: {request.campaign_file}"
        state, message = LaunchRequestState.FAILED, None
        try:
            state, message = await self._run(request, request.id)
        except LeaseLostError as error:
            self.progress.note(str(error))
            return
        except (RunnerError, StoreError) as error:
            message = str(error)
        except asyncio.CancelledError:
            state, message = LaunchRequestState.STOPPED, "stopped at once by the user"
            raise
        except Exception as error:
            # The outermost loop: one broken campaign must not take the queue down with it.
            message = f"our own fault: {type(error).__name__}: {error}"
        finally:
            self.doing = None
            self._finish(request.id, state, message)

    def _finish(self, request_id: int, state: LaunchRequestState, message: str | None) -> None:
        if message is not None:
            self.progress.note(f"{format_id(IdKind.REQUEST, request_id)} {state}: {message}")
        try:
            finish(self.store, request_id, self.holder.name, state=state, message=message)
        except LeaseLostError as error:
            self.progress.note(str(error))

    async def _run(
        self, request: LaunchRequestRow, request_id: int
    ) -> tuple[LaunchRequestState, str | None]:
        campaign = load_campaign(self.configs.campaign_path(request.campaign_file))
        stack = load_stack(self.configs.stack_path(campaign.stack))
        check_campaign_on_stack(campaign, stack)
        campaign = narrow_campaign(campaign, request.levels, order_seed=request.order_seed)
        stop = StopRequest()
        stop.emergencies = self.stop.emergencies  # the process ends as a whole
        async with held_by(lambda: self._renew(request_id, stop), every_s=POLL_S):
            end = await run_campaign(
                campaign,
                stack,
                store=self.store,
                worker=self.holder,
                stop=stop,
                progress=_NamingProgress(self.progress, self, request_id),
            )
        self._say_verdicts(end)
        return _request_end(end)

    def _say_verdicts(self, end: CampaignEnd) -> None:
        for each in reach_verdicts(self.store, end.campaign_id):
            self.progress.note(f"{each.slug}: {headline_line(each.verdict)}")
        name = format_id(IdKind.CAMPAIGN, end.campaign_id)
        self.progress.note(f"campaign {name} has ended; its pages stay open")

    def _renew(self, request_id: int, stop: StopRequest) -> None:
        """Keeps the request, and hears both who may stop it. Raises LeaseLostError."""
        request = renew_request(self.store, request_id, self.holder.name)
        if (request.stop_requested or self.stop.soft.is_set()) and not stop.soft.is_set():
            stop.ask()


@dataclass(frozen=True, slots=True)
class _NamingProgress:
    """Passes everything on, and writes into the request which campaign it became."""

    listener: ProgressListener
    worker: Worker
    request_id: int

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        name_campaign(
            self.worker.store, self.request_id, self.worker.holder.name, campaign_id=campaign_id
        )
        self.listener.campaign_started(name, campaign_id, missing=missing, total=total)

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        self.worker.doing = f"r-{run.run_id}: {run.arm.name}, {state}"
        self.listener.run_state(run, state)

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        self.listener.session_ended(run, played)

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        self.listener.run_ended(run, row, lines)

    def note(self, text: str) -> None:
        self.listener.note(text)


def _request_end(end: CampaignEnd) -> tuple[LaunchRequestState, str | None]:
    if end.was_stopped:
        return (
            LaunchRequestState.STOPPED,
            "stopped; launching it again goes on with what is missing",
        )
    if end.gave_up is not None:
        return LaunchRequestState.FAILED, end.gave_up
    return LaunchRequestState.DONE, None
