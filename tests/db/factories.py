"""Builders of stored rows with sensible defaults, for every test that needs a filled store.

Each builder writes what it builds and returns the stored rows. Times start at `START_US`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlmodel import SQLModel, select

from db.raw_bytes import raw_row
from db.read_times import ReadTimes
from db.store import Store
from db.tables.campaigns import ArmRow, CampaignRow, HypothesisRow
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import RunRow
from db.tables.sessions import SessionRow, TurnRow
from db.vocabulary import (
    CORRUPT_OUTCOMES,
    Outcome,
    OutcomeClass,
    RawKind,
    RunState,
)
from tests.db.fresh_stores import SECOND_US, START_US
from tests.db.unstored_rows import CLEAN_TURNS, LEAKED_TURNS, TurnSpec, session_row, turn_row


@dataclass(frozen=True)
class ArmSpec:
    name: str
    levels: Mapping[str, Any]
    concurrency: int = 80
    sessions_per_run: int = 80
    tag: str | None = None
    is_baseline: bool = False


def arm_spec(
    index_keys: str = "bf16",
    hicache: str = "on",
    host_pool: str = "fp8-sized",
    *,
    concurrency: int = 80,
    **more: Any,
) -> ArmSpec:
    """One arm of the decisive test, named from its levels."""
    levels = {
        "index_keys": index_keys,
        "hicache": hicache,
        "host_pool": host_pool,
        "concurrency": concurrency,
    }
    name = f"{index_keys} · {hicache} · {host_pool} · C={concurrency}"
    return ArmSpec(name=name, levels=levels, concurrency=concurrency, **more)


DECISIVE_ARMS = (
    arm_spec(is_baseline=True),
    arm_spec(host_pool="dtype-aware", tag="FIXED"),
    arm_spec(hicache="off"),
    arm_spec(index_keys="fp8"),
    arm_spec(concurrency=1, sessions_per_run=20),
)


class StoredCampaign(NamedTuple):
    campaign: CampaignRow
    arms: list[ArmRow]
    hypotheses: list[HypothesisRow]


def stored_campaign(
    store: Store,
    *,
    name: str = "decisive-test",
    arms: Sequence[ArmSpec] = DECISIVE_ARMS,
    definition_key: str | None = None,
    created_at_us: int = START_US,
) -> StoredCampaign:
    """A campaign with its arms and, from two arms on, one hypothesis: arm 1 versus arm 0."""
    campaign = CampaignRow(
        name=name,
        question="Does the dtype-aware host pool end the corruption?",
        stack="testbed",
        source_path=f"configs/campaigns/{name}.yaml",
        source_text=f"campaign: {name}\n",
        definition={"campaign": name},
        definition_key=definition_key or f"key-of-{name}",
        order_seed=7,
        corrupt_outcomes=[str(outcome) for outcome in CORRUPT_OUTCOMES],
        created_at_us=created_at_us,
        code_version="0.1.0",
    )
    _add(store, [campaign])
    rows = [_arm_row(stored_id(campaign), position, arm) for position, arm in enumerate(arms)]
    _add(store, rows)
    hypotheses = [_hypothesis_row(campaign, rows)] if len(rows) > 1 else []
    _add(store, hypotheses)
    return StoredCampaign(campaign, rows, hypotheses)


def stored_run(
    store: Store,
    arm: ArmRow,
    *,
    state: RunState = RunState.DONE,
    counts: Mapping[Outcome, int] | None = None,
    with_turns: bool = False,
    block: int = 0,
    attempt: int = 1,
    run_key: str | None = None,
    **columns: Any,
) -> RunRow:
    """A run of `arm`; `counts` says how many sessions of each outcome it has, in that order."""
    values: dict[str, Any] = {
        "run_key": run_key or f"{arm.position}-{block}",
        "position": arm.position,
        "sessions_planned": arm.sessions_per_run,
        "planned_at_us": START_US,
        **_moments(state),
    }
    row = RunRow(
        campaign_id=arm.campaign_id,
        arm_id=stored_id(arm),
        block=block,
        attempt=attempt,
        state=state,
        **{**values, **columns},
    )
    _add(store, [row])
    outcomes = [outcome for outcome, count in (counts or {}).items() for _ in range(count)]
    for index, outcome in enumerate(outcomes):
        stored_session(store, row, outcome, index=index, turns=None if with_turns else ())
    return refreshed_run(store, row)


def stored_session(
    store: Store,
    run: RunRow,
    outcome: Outcome = Outcome.DONE,
    *,
    index: int = 0,
    turns: Sequence[TurnSpec] | None = None,
    **columns: Any,
) -> SessionRow:
    """A session with its turns and their raw bytes, counted in the run.

    Without `turns` it gets two clean ones, or a leaked one where the outcome is corrupt.
    """
    row = session_row(stored_id(run), outcome, index=index, **columns)
    if turns is None:
        is_corrupt = outcome.outcome_class is OutcomeClass.CORRUPT
        turns = LEAKED_TURNS if is_corrupt else CLEAN_TURNS
    with store.write() as session:
        stored = session.exec(select(RunRow).where(RunRow.id == run.id)).one()
        stored.n_ended += 1
        setattr(stored, f"n_{outcome}", getattr(stored, f"n_{outcome}") + 1)
        session.add(row)
        session.flush()
        for position, spec in enumerate(turns):
            turn = turn_row(spec, index=position, session_id=stored_id(row))
            session.add(turn)
            session.flush()
            session.add_all(_raw_rows(stored_id(run), turn, spec))
    return row


def stored_log_events(store: Store, run: RunRow, lines: Sequence[str]) -> list[LogEventRow]:
    """One event a second, all of kind `waiting_for_input`."""
    rows = [
        LogEventRow(
            run_id=stored_id(run),
            service="server",
            at_us=START_US + index * SECOND_US,
            kind="waiting_for_input",
            event_class="wedge",
            line=line,
        )
        for index, line in enumerate(lines)
    ]
    _add(store, rows)
    return rows


def stored_samples(
    store: Store, run: RunRow, values: Sequence[float], *, name: str = "num_running_reqs"
) -> list[MetricSampleRow]:
    """One sample every two seconds."""
    rows = [
        MetricSampleRow(
            run_id=stored_id(run),
            service="server",
            at_us=START_US + 2 * index * SECOND_US,
            name=name,
            value=value,
        )
        for index, value in enumerate(values)
    ]
    _add(store, rows)
    return rows


def refreshed_run(store: Store, run: RunRow) -> RunRow:
    """The run as it is stored now."""
    with store.session() as session:
        return session.exec(select(RunRow).where(RunRow.id == run.id)).one()


def stored_id(row: Any) -> int:
    """The id of a row that is stored."""
    assert isinstance(row.id, int), f"{row!r} is not stored"
    return row.id


def _add(store: Store, rows: Sequence[SQLModel]) -> None:
    with store.write() as session:
        session.add_all(rows)


def _arm_row(campaign_id: int, position: int, arm: ArmSpec) -> ArmRow:
    return ArmRow(
        campaign_id=campaign_id,
        position=position,
        name=arm.name,
        levels=dict(arm.levels),
        tag=arm.tag,
        concurrency=arm.concurrency,
        sessions_per_run=arm.sessions_per_run,
        is_baseline=arm.is_baseline,
    )


def _hypothesis_row(campaign: CampaignRow, arms: Sequence[ArmRow]) -> HypothesisRow:
    return HypothesisRow(
        campaign_id=stored_id(campaign),
        slug="host-pool",
        claim="the fp8-sized host mirror is the cause",
        arm_id=stored_id(arms[1]),
        versus_arm_id=stored_id(arms[0]),
        predict="corrupt == 0 and wedges == 0",
        tolerate=0.05,
        recorded_at_us=campaign.created_at_us,
    )


def _moments(state: RunState) -> dict[str, Any]:
    if state is RunState.PLANNED:
        return {}
    moments: dict[str, Any] = {
        "worker": "worker-1",
        "started_at_us": START_US,
        "driving_at_us": START_US + 5 * SECOND_US,
    }
    if state.is_terminal:
        moments |= {"ended_at_us": START_US + 65 * SECOND_US, "wall_s": 60.0}
    return moments


def _raw_rows(run_id: int, turn: TurnRow, spec: TurnSpec) -> list[SQLModel]:
    request = b'{"messages": []}'
    turn_id, at_us = stored_id(turn), turn.started_at_us
    reads = ReadTimes((0.2,), (len(spec.response),))
    return [
        raw_row(run_id, RawKind.REQUEST, request, at_us=at_us, turn_id=turn_id),
        raw_row(run_id, RawKind.RESPONSE, spec.response, at_us=at_us, turn_id=turn_id, reads=reads),
    ]
