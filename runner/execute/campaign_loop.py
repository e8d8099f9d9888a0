"""Runs what is missing of a campaign, run by run, and judges its hypotheses at the end."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from db.campaigns import RegisteredCampaign, register_campaign
from db.recorder import Recorder
from db.runs import failed_attempts, interrupt_orphans, plan_runs
from db.stack_lease import Holder
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import RunFlag, RunState
from db.workers import HEARTBEAT_S, liveness_now
from runner.campaign.campaign import Arm, Campaign, OnWedge, StopRule
from runner.campaign.campaign_file import require_unchanged_files
from runner.campaign.carried_over import carried_over
from runner.campaign.config_folder import shipped_event_files
from runner.campaign.matrix import expand_arms
from runner.campaign.stack_file import Stack
from runner.control.error_texts import errors_without
from runner.control.secrets import Secrets
from runner.evidence.number_words import counted_text
from runner.execute.campaign_registration import due_runs, new_campaign
from runner.execute.early_stopping import settled_arm
from runner.execute.held import held_by
from runner.execute.hiding_progress import HidingProgress
from runner.execute.launcher import Launcher
from runner.execute.live_evidence import note_evidence_so_far
from runner.execute.off_loop import off_loop
from runner.execute.open_files import provide_open_files
from runner.execute.progress import ProgressListener, RunOfCampaign
from runner.execute.run_lifecycle import execute_run
from runner.execute.run_setting import Patience, RunSetting
from runner.execute.stop_request import StopRequest
from runner.execute.verdicts import JudgedHypothesis, judge_hypotheses
from runner.observe.event_catalogue import EventCatalogue, load_catalogue
from runner.observe.notification import notify
from runner.stacks.service_connection import ServiceKeys, control_client, secrets_of

MAX_FAILURES_IN_A_ROW = 3
LOG_FOLDER = "decisive-logs"


@dataclass(frozen=True, slots=True)
class CampaignEnd:
    """`was_stopped`: a person or a signal asked for it. `gave_up`: why we did, if we did.

    `ended_at_wedge`: the run whose wedge ended the campaign, as its file asks for.
    """

    campaign_id: int
    was_stopped: bool
    gave_up: str | None
    ended_at_wedge: str | None = None


async def run_campaign(
    campaign: Campaign,
    stack: Stack,
    *,
    store: Store,
    worker: Holder,
    stop: StopRequest,
    progress: ProgressListener,
    patience: Patience | None = None,
    catalogue: EventCatalogue | None = None,
    environment: Mapping[str, str] = os.environ,
) -> CampaignEnd:
    """Runs all runs without a `done` attempt, in the campaign's order.

    `catalogue`: which log lines mean something; the one that came along by default. `environment`
    holds the keys that the stack file names.

    Raises ConfigError where a file that the sessions come from is changed meanwhile, UsageError
    where one is missing or where this machine cannot drive so many sessions,
    StackLeasedError, RunBusyError, and StoreError where the store fails.
    """
    provide_open_files(max(arm.concurrency for arm in expand_arms(campaign)))
    secrets = secrets_of(stack, environment, factors=campaign.factors)
    with errors_without(secrets):
        return await _run_campaign(
            campaign,
            stack,
            store=store,
            worker=worker,
            stop=stop,
            progress=HidingProgress(progress, secrets),
            patience=patience or Patience(),
            catalogue=catalogue or load_catalogue(shipped_event_files()),
            environment=environment,
            secrets=secrets,
        )


async def _run_campaign(
    campaign: Campaign,
    stack: Stack,
    *,
    store: Store,
    worker: Holder,
    stop: StopRequest,
    progress: ProgressListener,
    patience: Patience,
    catalogue: EventCatalogue,
    environment: Mapping[str, str],
    secrets: Secrets,
) -> CampaignEnd:
    for orphan in await off_loop(
        interrupt_orphans, store, liveness=liveness_now(store), idle=worker.name
    ):
        progress.note(f"r-{orphan.id} was {orphan.reason}; it will be run again")
    registered = await off_loop(register_campaign, store, new_campaign(campaign, stack))
    campaign_id = registered.campaign.id
    assert campaign_id is not None
    due = due_runs(campaign, stack, registered)
    keys = ServiceKeys(environment)
    async with control_client(stack, environment=environment, keys=keys, secrets=secrets) as http:
        launcher = Launcher(
            store=store,
            stack=stack,
            campaign_id=campaign_id,
            restart=campaign.schedule.restart,
            holder=worker,
            http=http,
            log_folder=log_folder(store),
            keys=keys,
            secrets=secrets,
        )
        stop.emergencies.append(launcher.kill_now)
        async with _lease(launcher, progress):
            for failed in await off_loop(failed_attempts, store, campaign_id, due):
                progress.note(
                    f"r-{failed.id} failed: {_clause(failed.reason)}; it will be run again"
                )
            missing = await off_loop(plan_runs, store, campaign_id, due)
            progress.campaign_started(
                campaign.name, campaign_id, missing=len(missing), total=len(due)
            )
            if missing and len(due) > 1:
                seed, blocks = campaign.schedule.order_seed, campaign.schedule.blocks
                progress.note(
                    f"{counted_text(blocks, 'block')}, the runs in the order of order_seed {seed}"
                )
            for carried in carried_over(campaign, stack):
                progress.note(carried)
            with Recorder(store) as recorder:
                setting = RunSetting(
                    store=store,
                    recorder=recorder,
                    http=http,
                    campaign=campaign,
                    stack=stack,
                    launcher=launcher,
                    worker=worker.name,
                    stop=stop,
                    progress=progress,
                    catalogue=catalogue,
                    patience=patience,
                    secrets=secrets,
                    environment=environment,
                )
                end = await _run_all(
                    _placed(missing, registered, campaign), setting, campaign_id=campaign_id
                )
    judged = await off_loop(judge_hypotheses, store, campaign_id)
    await _tell_verdicts(judged, campaign, stack, progress)
    return CampaignEnd(campaign_id, stop.soft.is_set(), end.gave_up, end.wedged_run)


async def _tell_verdicts(
    judged: Sequence[JudgedHypothesis],
    campaign: Campaign,
    stack: Stack,
    progress: ProgressListener,
) -> None:
    for each in judged:
        facts = {
            "campaign": campaign.name,
            "hypothesis": each.slug,
            "claim": each.claim,
            "headline": str(each.verdict.headline),
            "sentence": each.verdict.sentence,
        }
        failed = await notify(campaign.notify or stack.notify, "verdict", facts)
        if failed is not None:
            progress.note(failed)


def _clause(sentence: str | None) -> str:
    return (sentence or "no reason is known").rstrip(". ")


def log_folder(store: Store) -> Path:
    """Beside the store, where its reader will look; the working directory for a server."""
    return (store.path.parent if store.path is not None else Path.cwd()) / LOG_FOLDER


class _EarlyEnd(NamedTuple):
    gave_up: str | None = None
    wedged_run: str | None = None


async def _run_all(
    runs: list[RunOfCampaign], setting: RunSetting, *, campaign_id: int
) -> _EarlyEnd:
    """Whether and why we stop early. Runs that fail one after the other are no use to anybody.

    Raises ConfigError where a file that the sessions come from was changed meanwhile.
    """
    failures = 0
    told: set[str] = set()
    for run in runs:
        if setting.stop.soft.is_set():
            break
        if _is_settled(run, setting, campaign_id):
            continue
        await asyncio.to_thread(require_unchanged_files, setting.campaign)
        row = await execute_run(run, setting)
        if row.state == RunState.DONE:
            store, position = setting.store, run.arm.position
            doubts = set(
                await asyncio.to_thread(note_evidence_so_far, store, campaign_id, position)
            )
            for doubt in sorted(doubts - told):
                setting.progress.note(doubt)
            told |= doubts
        if RunFlag.ENDED_AT_WEDGE in row.flags and setting.campaign.on_wedge is OnWedge.STOP:
            return _EarlyEnd(wedged_run=f"r-{run.run_id}")
        failures = failures + 1 if row.state == RunState.FAILED else 0
        if failures >= MAX_FAILURES_IN_A_ROW:
            said = f"{failures} runs failed in a row, the last because {row.reason}"
            return _EarlyEnd(gave_up=said)
    return _EarlyEnd()


def _is_settled(run: RunOfCampaign, setting: RunSetting, campaign_id: int) -> bool:
    """Whether the stop rule spares this run; the reason and its price are told."""
    if setting.campaign.stop not in (StopRule.DECIDED, StopRule.TWO_LOOKS):
        return False
    advice = settled_arm(setting.store, campaign_id, run.arm.position)
    if advice is not None:
        setting.progress.note(
            f"{run.arm.name}, block {run.block}: not run. {advice.text} {advice.cost}"
        )
    return advice is not None


def _placed(
    missing: list[RunRow], registered: RegisteredCampaign, campaign: Campaign
) -> list[RunOfCampaign]:
    position_of = {row.id: row.position for row in registered.arms}
    arms: tuple[Arm, ...] = expand_arms(campaign)
    return [
        RunOfCampaign(
            run_id=row.id,
            arm=arms[position_of[row.arm_id]],
            block=row.block,
            number=number,
            of=len(missing),
        )
        for number, row in enumerate(missing, start=1)
        if row.id is not None
    ]


@asynccontextmanager
async def _lease(launcher: Launcher, progress: ProgressListener) -> AsyncIterator[None]:
    """Holds the stack while open, and gives it back with no server of ours left."""
    for done in await launcher.take_lease():
        progress.note(done)
    try:
        async with held_by(launcher.renew_lease, every_s=HEARTBEAT_S):
            yield
    finally:
        for failure in await asyncio.shield(launcher.close()):
            progress.note(f"{failure}; `decisive stack restore {launcher.stack_name}` tries again")
