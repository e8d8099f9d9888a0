"""Takes requests from the queue, one after the other, and runs their campaigns."""

import asyncio
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from db.errors import RunBusyError, StackLeasedError, StoreError
from db.identifiers import IdKind, format_id
from db.launch_queue import claim, finish, name_campaign, put_back
from db.launch_queue import heartbeat as renew_request
from db.runs import interrupt_orphans
from db.stack_lease import Holder
from db.store import Store
from db.tables.runs import RunRow
from db.tables.work import LaunchRequestRow
from db.vocabulary import LaunchRequestState, RunState
from db.workers import liveness_now
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import load_campaign
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.stack_file import Stack, load_stack
from runner.campaign.stack_fit import campaign_on_stack, check_campaign_on_stack
from runner.campaign.until_decided import why_not_until_decided
from runner.errors import RunnerError, UsageError
from runner.evidence.verdict_text import headline_line
from runner.execute.campaign_loop import CampaignEnd, run_campaign
from runner.execute.further_blocks import further_blocks
from runner.execute.heartbeat import heartbeat
from runner.execute.held import held_by
from runner.execute.off_loop import off_loop
from runner.execute.progress import ProgressListener, RunOfCampaign
from runner.execute.stop_request import StopRequest
from runner.execute.verdicts import reach_verdicts
from runner.sessions.played_session import PlayedSession
from runner.sessions.scenario import scenario_of

POLL_S = 0.5
BUSY_STACK_POLL_S = 3.0
"""How often a request is tried again whose stack somebody else drives."""

ORPHANS_POLL_S = 10.0
"""How often a worker that has nothing to do looks for runs whose worker is gone."""


@dataclass(slots=True)
class Worker:
    """One process that serves the queue. `stop` ends it after the sessions in flight."""

    store: Store
    configs: ConfigFolder
    holder: Holder
    stop: StopRequest
    progress: ProgressListener
    doing: str | None = None
    _waiting: dict[int, "_Waiting"] = field(default_factory=dict)
    _trouble: str | None = None
    _orphans_again_s: float = -math.inf

    async def work(self, *, until_empty: bool = False) -> None:
        """Serves requests until told to stop; with `until_empty`, until none waits."""
        async with heartbeat(self.store, self.holder, doing=lambda: self.doing):
            while not self.stop.soft.is_set():
                not_yet = self._not_yet()
                try:
                    await self._stop_orphans()
                    request = await off_loop(claim, self.store, self.holder.name, but_not=not_yet)
                except StoreError as error:
                    # A disk that is full now may have room later; a queue that is left has nobody.
                    self._tell_once(str(error))
                    await self._rest()
                    continue
                if request is not None:
                    await self._serve(request)
                elif until_empty and not not_yet:
                    return
                else:
                    await self._rest()

    async def _stop_orphans(self) -> None:
        """What a killed worker left must not look as if it ran until somebody launches again.

        Here only a process that is gone counts as dead: silence alone may be a machine that slept.
        """
        now_s = self.store.clock.monotonic_s()
        if now_s < self._orphans_again_s:
            return
        self._orphans_again_s = now_s + ORPHANS_POLL_S
        liveness = replace(liveness_now(self.store), silent_after_s=math.inf)
        for orphan in await off_loop(
            interrupt_orphans, self.store, liveness=liveness, idle=self.holder.name
        ):
            self.progress.note(f"r-{orphan.id} was {orphan.reason}")

    def _tell_once(self, trouble: str) -> None:
        if trouble != self._trouble:
            self.progress.note(trouble)
        self._trouble = trouble

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
        except (StackLeasedError, RunBusyError) as error:
            state, message = LaunchRequestState.QUEUED, str(error)
        except (RunnerError, StoreError) as error:
            message = str(error)
        except asyncio.CancelledError:
            state = LaunchRequestState.STOPPED
            message = self.stop.cut_reason or "cut short by ourselves"
            raise
        except Exception as error:
            # The outermost loop: one broken campaign must not take the queue down with it.
            message = f"our own fault: {type(error).__name__}: {error}"
        finally:
            self.doing = None
            await self._leave(request.id, state, message)

    async def _leave(self, request_id: int, state: LaunchRequestState, message: str | None) -> None:
        """Ends the request, or lets it wait again where its stack is driven by somebody else."""
        name = format_id(IdKind.REQUEST, request_id)
        try:
            if state is LaunchRequestState.QUEUED and message is not None:
                self._wait(request_id, message)
                await off_loop(
                    put_back, self.store, request_id, self.holder.name, waits_for=message
                )
                return
            self._waiting.pop(request_id, None)
            if message is not None:
                self.progress.note(f"{name} {state}: {message}")
            await off_loop(
                finish, self.store, request_id, self.holder.name, state=state, message=message
            )
        except StoreError as error:
            # Where its end cannot be noted, its lease runs out and it is claimed again.
            self.progress.note(str(error))

    def _wait(self, request_id: int, because: str) -> None:
        """Once told, a wait is told again only for another reason."""
        before = self._waiting.get(request_id)
        if before is None or before.because != because:
            self.progress.note(f"{format_id(IdKind.REQUEST, request_id)} waits: {because}")
        again_s = self.store.clock.monotonic_s() + BUSY_STACK_POLL_S
        self._waiting[request_id] = _Waiting(again_s, because)

    def _not_yet(self) -> tuple[int, ...]:
        now_s = self.store.clock.monotonic_s()
        return tuple(number for number, each in self._waiting.items() if each.again_s > now_s)

    async def _run(
        self, request: LaunchRequestRow, request_id: int
    ) -> tuple[LaunchRequestState, str | None]:
        campaign = load_campaign(self.configs.campaign_path(request.campaign_file))
        stack = load_stack(self.configs.stack_path(campaign.stack))
        campaign = campaign_on_stack(campaign, stack)
        check_campaign_on_stack(campaign, stack)
        scenario_of(campaign)  # so that what it cannot play is known before anything starts
        campaign = narrow_campaign(
            campaign, request.levels, order_seed=request.order_seed, blocks=request.blocks
        )
        if request.most_blocks is not None and (why_not := why_not_until_decided(campaign)):
            raise UsageError(why_not)
        progress = _HeardProgress(self.progress, self)
        # At once, before any stream is open: a worker that is killed leaves a request that its
        # campaign's pages can stop. Where the store cannot take it now, the next renewal writes it.
        progress.name = lambda: self._name(request_id, progress)

        def renew() -> LaunchRequestRow:
            """In a thread. Raises LeaseLostError."""
            self._name(request_id, progress)
            return renew_request(self.store, request_id, self.holder.name)

        with self.stop.part() as stop:

            def heard(renewed: LaunchRequestRow) -> None:
                if renewed.stop_requested and not stop.soft.is_set():
                    stop.ask()

            async with held_by(renew, every_s=POLL_S, heard=heard):
                end, said = await self._passes(campaign, stack, request.most_blocks, stop, progress)
        await off_loop(self._name, request_id, progress)
        await self._say_verdicts(end, progress)
        return _request_end(end, progress, said)

    async def _passes(
        self,
        campaign: Campaign,
        stack: Stack,
        most_blocks: int | None,
        stop: StopRequest,
        progress: "_HeardProgress",
    ) -> tuple[CampaignEnd, str | None]:
        """One pass over the campaign, and with `most_blocks` further ones while they may decide.

        The second answer says what came of that.
        """
        while True:
            end = await run_campaign(
                campaign,
                stack,
                store=self.store,
                worker=self.holder,
                stop=stop,
                progress=progress,
            )
            if most_blocks is None:
                return end, None
            judged = await asyncio.to_thread(reach_verdicts, self.store, end.campaign_id)
            further = further_blocks(campaign, end, judged, most=most_blocks)
            if further.campaign is None:
                return end, further.said
            progress.note(further.said or "")
            campaign = further.campaign

    def _name(self, request_id: int, progress: "_HeardProgress") -> None:
        """Writes into the request, once, which campaign it became."""
        if progress.campaign_id is not None and not progress.is_named:
            name_campaign(
                self.store, request_id, self.holder.name, campaign_id=progress.campaign_id
            )
            progress.is_named = True

    async def _say_verdicts(self, end: CampaignEnd, progress: "_HeardProgress") -> None:
        for each in await asyncio.to_thread(reach_verdicts, self.store, end.campaign_id):
            self.progress.note(f"{each.slug}: {headline_line(each.verdict)}")
        name = format_id(IdKind.CAMPAIGN, end.campaign_id)
        self.progress.note(f"campaign {name} {_how_it_ended(end, progress)}")


class _Waiting(NamedTuple):
    again_s: float
    because: str


@dataclass(slots=True)
class _HeardProgress:
    """Passes everything on, and keeps what the request and the worker's row are to say."""

    listener: ProgressListener
    worker: Worker
    campaign_id: int | None = None
    missing: int | None = None
    total: int = 0
    done: int = 0
    is_named: bool = False
    has_run: bool = False
    name: Callable[[], None] = lambda: None

    def campaign_started(self, name: str, campaign_id: int, *, missing: int, total: int) -> None:
        self.campaign_id, self.missing = campaign_id, missing
        self.total, self.done = total, total - missing
        with contextlib.suppress(StoreError):
            self.name()
        self.listener.campaign_started(name, campaign_id, missing=missing, total=total)

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        self.has_run = True
        self.worker.doing = f"r-{run.run_id}: {run.arm.name}, {state}"
        self.listener.run_state(run, state)

    def session_ended(self, run: RunOfCampaign, played: PlayedSession) -> None:
        self.listener.session_ended(run, played)

    def run_ended(self, run: RunOfCampaign, row: RunRow, lines: tuple[str, ...]) -> None:
        self.done += row.state == RunState.DONE
        self.listener.run_ended(run, row, lines)

    def note(self, text: str) -> None:
        self.listener.note(text)


def _how_it_ended(end: CampaignEnd, progress: _HeardProgress) -> str:
    """The pages stay open where the worker goes on."""
    done = f"after {progress.done:,} of {progress.total:,} runs"
    if end.was_stopped and progress.done < progress.total:
        return f"was stopped {done}; launched again, it goes on with the others"
    if end.gave_up is not None:
        return f"was given up {done}"
    if end.ended_at_wedge is not None:
        return f"ended {done}, at the wedge of {end.ended_at_wedge}"
    return "has ended; its pages stay open"


def _request_end(
    end: CampaignEnd, progress: _HeardProgress, said: str | None
) -> tuple[LaunchRequestState, str | None]:
    if end.was_stopped:
        if progress.done < progress.total:
            rest = "stopped; launching it again goes on with what is missing"
        else:
            rest = "stopped in its last run: nothing is missing"
        return LaunchRequestState.STOPPED, rest
    if end.gave_up is not None:
        return LaunchRequestState.FAILED, end.gave_up
    if said is not None:
        return LaunchRequestState.DONE, said
    if progress.missing == 0:
        return (
            LaunchRequestState.DONE,
            "nothing was missing: all its runs had been done before. For another order of runs, "
            "launch it with another order seed",
        )
    if not progress.has_run:
        return (
            LaunchRequestState.DONE,
            "nothing was run: its stop rule spares what is missing, for those arms are settled",
        )
    return LaunchRequestState.DONE, None
