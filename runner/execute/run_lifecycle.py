"""Takes one run through its life: applying, verifying, warming, driving, settling, an end.

Whatever happens, the run ends in a state that says whether its evidence counts, and why not.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Unpack

from db.errors import StoreError
from db.log_events import mark_own_cancellations
from db.runs import RunFacts, begin_run, flag_run, transition_run, write_run_facts
from db.tables.runs import RunRow
from db.vocabulary import RunFlag, RunState
from db.wedges import mark_wedge_victims
from runner.campaign.campaign_file import require_unchanged_files
from runner.campaign.owner_switches import wanted_change
from runner.errors import ConfigError, RunInvalidError, StackError
from runner.event_loop import end_task
from runner.execute.arm_switch import proof_after_switch, switch_request
from runner.execute.eviction import evict_prefixes
from runner.execute.launcher import LaunchedStack
from runner.execute.off_loop import off_loop
from runner.execute.progress import RunOfCampaign
from runner.execute.run_counts import lines_of
from runner.execute.run_setting import RunSetting
from runner.execute.run_watch import RunWatch
from runner.execute.session_drive import DriveRecord, SessionDrive
from runner.execute.starved_client import starved_client_note
from runner.execute.stop_request import StoppedEarlyError, unless_stopped
from runner.observe.engine_readings import PageReading
from runner.stacks.arm_proof import ArmProof, prove_arm
from runner.stacks.cache_flush import flush_caches
from runner.stacks.eviction_flood import Flooded
from runner.stacks.exposure import Exposure, cache_use, measure_exposure
from runner.stacks.foreign_traffic import CountedRequests, counted_requests
from runner.stacks.reachability import gone_service
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_connection import connection_with
from runner.stacks.warm_up import warm_up


@dataclass(slots=True)
class _Driven:
    """What was seen between the first session and the last."""

    record: DriveRecord
    watch: RunWatch
    wall_s: float = 0.0
    exposures: tuple[Exposure, ...] = ()
    cache_use: dict[str, float] = field(default_factory=dict)
    pages_before: Mapping[str, PageReading | None] = field(default_factory=dict)
    requests: tuple[CountedRequests, ...] = ()
    flags: list[RunFlag] = field(default_factory=list)


async def execute_run(run: RunOfCampaign, setting: RunSetting) -> RunRow:
    """The run as it ended. Raises only what must end the campaign: a store that fails, a cancel."""
    life = _RunLife(run, setting)
    await off_loop(begin_run, setting.store, run.run_id, worker=setting.worker)
    with await off_loop(setting.store.spare_room) as spare_room:
        try:
            return await _lived(life, run, setting)
        except StoreError as error:
            spare_room.close()
            await life.say_that_it_failed(str(error))
            raise


async def _lived(life: "_RunLife", run: RunOfCampaign, setting: RunSetting) -> RunRow:
    try:
        setting.progress.run_state(run, RunState.APPLYING)
        end, reason = await life.live()
    except StoppedEarlyError:
        end, reason = RunState.STOPPED, "stopped before its first session"
    except RunInvalidError as error:
        end, reason = RunState.INVALID, str(error)
    except StackError as error:
        end, reason = RunState.FAILED, str(error)
    except asyncio.CancelledError as error:
        await life.end(RunState.STOPPED, setting.stop.cut_reason or _said(error))
        raise
    except Exception as error:
        first = _first_of(error)
        await life.end(RunState.FAILED, _fault(first))
        if isinstance(first, StoreError):
            raise first from None
        raise
    return await life.end(end, reason)


def _first_of(error: Exception) -> Exception:
    """Of several that came together, which often have one cause."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _fault(error: Exception) -> str:
    if isinstance(error, StoreError):
        return str(error)
    return f"our own fault: {type(error).__name__}: {error}"


def _said(cancelled: asyncio.CancelledError) -> str:
    return str(cancelled.args[0]) if cancelled.args else "cut short by ourselves"


class _RunLife:
    def __init__(self, run: RunOfCampaign, setting: RunSetting) -> None:
        self._run = run
        self._setting = setting
        self._driven: _Driven | None = None
        self._flooded: Flooded | None = None

    async def live(self) -> tuple[RunState, str | None]:
        """The end of a run that was not cut short, with a reason where it does not count."""
        launched = await self._in_its_arm()
        await self._require_unchanged_files()  # a server may have taken half an hour to start
        await self._move(RunState.DRIVING)
        record = DriveRecord()
        watch = RunWatch(self._run, self._setting, launched.running, record)
        self._driven = driven = _Driven(record, watch)
        await self._driving(launched.running, driven)
        await self._move(RunState.SETTLING)
        await self._settling(launched.running, driven)
        return self._ending(driven)

    async def _require_unchanged_files(self) -> None:
        """Raises RunInvalidError."""
        try:
            await asyncio.to_thread(require_unchanged_files, self._setting.campaign)
        except ConfigError as error:
            raise RunInvalidError(str(error)) from None

    async def _in_its_arm(self) -> LaunchedStack:
        """Services that are proved and warm. Raises StoppedEarlyError."""
        stop = self._setting.stop
        launched = await self._applying()
        await self._move(RunState.VERIFYING)
        await unless_stopped(self._verifying(launched), stop)
        await self._move(RunState.WARMING)
        await unless_stopped(self._warming(launched.running), stop)
        return launched

    async def end(self, state: RunState, reason: str | None) -> RunRow:
        """Stores what was learned, moves the run to its end and tells it."""
        setting = self._setting
        if reason is not None:
            reason = setting.secrets.hidden_text(reason)
        try:
            await asyncio.to_thread(setting.recorder.flush)
            if self._driven is not None:
                await self._write_facts(self._driven)
        finally:
            if self._driven is not None:
                self._driven.watch.observer.close()
        return await self._ended_as(state, reason)

    async def say_that_it_failed(self, reason: str) -> None:
        """No more than that: a store that fails may have room, or time, for this alone.

        Nothing happens where the run has ended already, or where not even that is taken.
        """
        with suppress(StoreError):
            await self._ended_as(RunState.FAILED, self._setting.secrets.hidden_text(reason))

    async def _ended_as(self, state: RunState, reason: str | None) -> RunRow:
        setting, run_id = self._setting, self._run.run_id
        row = await off_loop(transition_run, setting.store, run_id, state, reason=reason)
        setting.progress.run_state(self._run, state)
        lines = lines_of(row, setting.campaign.corrupt) if row.n_ended else ()
        setting.progress.run_ended(self._run, row, lines)
        return row

    async def _applying(self) -> LaunchedStack:
        launched = await self._setting.launcher.enter(
            self._run.arm.levels, label=f"r-{self._run.run_id}"
        )
        await self._learn(launch_id=launched.launch_id)
        return launched

    async def _verifying(self, launched: LaunchedStack) -> None:
        setting = self._setting
        await setting.launcher.wait_until_ready(launched)
        proof = await self._proof(launched)
        request = switch_request(launched.running, proof, self._change_at)
        if request is not None:
            setting.progress.note(request.sentence(self._run.arm.name))
            proof = await proof_after_switch(
                request, lambda: self._proof(launched), clock=setting.store.clock
            )
            await setting.launcher.wait_until_ready(launched)
        await setting.launcher.note_fingerprints(launched)
        await self._learn(verification=setting.secrets.hidden_in(proof.to_json()))
        if proof.failures:
            said = "; ".join(failure.sentence() for failure in proof.failures)
            raise RunInvalidError(f"the stack is not in this arm: {said}")
        if proof.unverifiable:
            named = ", ".join(proof.unverifiable)
            setting.progress.note(f"nothing can prove the level of: {named}")

    def _change_at(self, service: str) -> str:
        setting = self._setting
        factors = setting.campaign.factors
        return wanted_change(setting.stack, factors, self._run.arm.levels, service)

    async def _proof(self, launched: LaunchedStack) -> ArmProof:
        levels = self._run.arm.levels
        said = await self._setting.launcher.statements(launched, levels)
        return prove_arm(self._setting.stack, levels, said)

    async def _warming(self, running: RunningStack) -> None:
        setting = self._setting
        await warm_up(running, http=setting.http)
        refusal = await flush_caches(
            running,
            http=setting.http,
            clock=setting.store.clock,
            deadline_s=setting.patience.flush_s,
            clears_storage=True,
        )
        if refusal is not None:
            if not refusal.is_busy:
                raise RunInvalidError(refusal.sentence)
            await off_loop(flag_run, setting.store, self._run.run_id, RunFlag.FLUSH_REFUSED)
            said = f"{refusal.sentence}; with no client this is a sign of stuck requests"
            raise RunInvalidError(said)
        flood = setting.campaign.workload.evict_flood
        if flood is not None:
            self._flooded = await evict_prefixes(self._run, setting, running, flood)

    async def _driving(self, running: RunningStack, driven: _Driven) -> None:
        setting = self._setting
        halt, observer = driven.watch.halt, driven.watch.observer
        drive = SessionDrive(
            run_id=self._run.run_id,
            arm=self._run.arm,
            campaign=setting.campaign,
            stack=setting.stack,
            running=running,
            recorder=setting.recorder,
            clock=setting.store.clock,
            stop=halt,
            on_ended=lambda played: setting.progress.session_ended(self._run, played),
            connection=connection_with(running.entry.definition, setting.environment),
            secrets=setting.secrets,
            note=setting.progress.note,
            record=driven.record,
        )
        await observer.look()
        observer.forget_peaks()
        before, driven.pages_before = observer.samples(), observer.pages()
        began_s = setting.store.clock.monotonic_s()
        try:
            async with _following(setting.stop.soft, halt), driven.watch.watching():
                await drive.drive()
        finally:
            took_s = setting.store.clock.monotonic_s() - began_s
            driven.wall_s = took_s - driven.record.preparing_s
        driven.exposures = measure_exposure(
            setting.stack,
            self._run.arm.levels,
            before=before,
            after=observer.samples(),
        )
        driven.cache_use = cache_use(before=before, after=observer.samples())

    async def _settling(self, running: RunningStack, driven: _Driven) -> None:
        driven.flags += driven.watch.flags
        ended = running.ended_service() or await gone_service(running, http=self._setting.http)
        if RunFlag.ENDED_AT_WEDGE in driven.flags:
            self._setting.progress.note("the run ends at its wedge")
        elif ended is not None:
            driven.flags.append(RunFlag.SERVER_DIED)
            self._setting.progress.note(f"{ended} during the run")
        elif await self._refuses_to_drain(running):
            driven.flags.append(RunFlag.NOT_DRAINED)
        await driven.watch.observer.look(is_last=True)
        self._look_for_strangers(driven)
        if any(not exposure.is_exercised for exposure in driven.exposures):
            driven.flags.append(RunFlag.NOT_EXERCISED)
        if driven.record.progress.arrivals_were_late:
            driven.flags.append(RunFlag.ARRIVALS_LATE)
        health = driven.record.health
        if health is not None and health.saturated:
            driven.flags.append(RunFlag.CLIENT_SATURATED)
        if note := starved_client_note(health):
            self._setting.progress.note(note)

    def _look_for_strangers(self, driven: _Driven) -> None:
        client = driven.record.client
        ours = (client.sent if client is not None else 0) + len(driven.watch.wedges.canary_ids)
        driven.requests = counted_requests(
            driven.pages_before, driven.watch.observer.pages(), sent=ours
        )
        foreign = [each for each in driven.requests if each.has_foreign]
        for each in foreign:
            self._setting.progress.note(each.sentence())
        if foreign:
            driven.flags.append(RunFlag.FOREIGN_TRAFFIC)

    async def _refuses_to_drain(self, running: RunningStack) -> bool:
        refusal = await flush_caches(
            running,
            http=self._setting.http,
            clock=self._setting.store.clock,
            deadline_s=self._setting.patience.drain_s,
        )
        if refusal is not None:
            self._setting.progress.note(refusal.sentence)
        return refusal is not None

    def _ending(self, driven: _Driven) -> tuple[RunState, str | None]:
        ended, planned = driven.record.progress.ended, self._run.arm.sessions
        is_cut = RunFlag.ENDED_AT_WEDGE in driven.flags or driven.record.met_first_corrupt
        if ended < planned and not is_cut:
            return RunState.STOPPED, f"stopped after {ended} of {planned} sessions"
        return RunState.DONE, None

    async def _write_facts(self, driven: _Driven) -> None:
        store, run_id = self._setting.store, self._run.run_id
        watch = driven.watch
        ours = watch.own_cancellations
        wedged = watch.observer.wedge_counts(ours)
        health = driven.record.health
        await self._learn(
            wall_s=driven.wall_s,
            wedges=len(watch.wedges.tracker.spans),
            wedge_facts=watch.facts(),
            wedge_lines=wedged.lines,
            wedge_requests=wedged.requests,
            peak_running=watch.observer.peak_running,
            exposure={
                "counters": [exposure.to_json() for exposure in driven.exposures],
                "cache_tokens": driven.cache_use,
                "requests": [each.to_json() for each in driven.requests],
                **({"evict_flood": self._flooded.to_json()} if self._flooded else {}),
            },
            client_health=health.to_json() if health is not None else {},
        )
        await off_loop(flag_run, store, run_id, *driven.flags)
        await off_loop(mark_own_cancellations, store, run_id, ours)
        await off_loop(mark_wedge_victims, store, run_id)

    async def _learn(self, **facts: Unpack[RunFacts]) -> None:
        await off_loop(write_run_facts, self._setting.store, self._run.run_id, **facts)

    async def _move(self, to: RunState) -> None:
        await off_loop(transition_run, self._setting.store, self._run.run_id, to)
        self._setting.progress.run_state(self._run, to)


@asynccontextmanager
async def _following(source: asyncio.Event, target: asyncio.Event) -> AsyncIterator[None]:
    """While open, `target` is set as soon as `source` is."""

    async def follow() -> None:
        await source.wait()
        target.set()

    task = asyncio.create_task(follow(), name="stop request")
    try:
        yield
    finally:
        await end_task(task)
