"""Stored campaigns as pages meet them: the decisive test finished, the same half-way, nothing yet.

Counts are made up and consistent; runs whose sessions no page opens have their counters only.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlmodel import SQLModel, select

from db.store import Store
from db.tables.campaigns import ArmRow, VerdictRow
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import FingerprintRow, LaunchRow, RunRow
from db.tables.sessions import SessionRow, TurnRow
from db.tables.work import WorkerRow
from db.vocabulary import (
    Availability,
    Direction,
    Elimination,
    Headline,
    Outcome,
    RunFlag,
    RunState,
    TurnReading,
)
from tests.db.factories import (
    StoredCampaign,
    arm_spec,
    stored_campaign,
    stored_id,
    stored_run,
    stored_session,
)
from tests.db.fresh_stores import SECOND_US, START_US
from tests.db.unstored_rows import TurnSpec, session_row

ARMS = tuple(
    arm_spec(
        index_keys,
        hicache,
        host_pool,
        concurrency=concurrency,
        sessions_per_run=80 if concurrency > 1 else 20,
        tag="FIXED" if host_pool == "dtype-aware" else None,
        is_baseline=(index_keys, hicache, host_pool, concurrency)
        == ("bf16", "on", "fp8-sized", 80),
    )
    for index_keys, hicache, host_pool in (
        ("fp8", "off", "fp8-sized"),
        ("fp8", "on", "fp8-sized"),
        ("bf16", "off", "fp8-sized"),
        ("bf16", "on", "fp8-sized"),
        ("bf16", "on", "dtype-aware"),
    )
    for concurrency in (1, 80)
)

LEAK = (
    "I will refund it now.\n\n<|DSML|tool_calls>\n"
    '<|DSML|invoke name="refund_refund_order">\n'
    '<|DSML|parameter name="order_id" string="true">A-20417</|DSML|parameter>\n'
    "</|DSML|invoke>\n</|DSML|tool_calls>"
)
HOSTILE = '<script>alert("x")</script> **bold** [link](http://example.org) :red[red] \u202e\x00 $x$'


def leak_span(text: str) -> dict[str, Any]:
    start = LEAK.index(text)
    end = start + len(text)
    return {"field": "content", "start": start, "end": end, "family": "dsml", "text": text}


TOOL_TURN = TurnSpec(
    reading=TurnReading.TOOL,
    content="",
    tool_calls=({"name": "lookup_order", "arguments": '{"order_id": "A-20417"}', "id": "call_0"},),
    user="please lookup with order = A-20417.",
)
LEAKED_TURN = TurnSpec(
    reading=TurnReading.LEAK,
    outcome=Outcome.LEAK,
    content=LEAK,
    user="Refund it in full. Reason: damaged.",
    markup=(
        leak_span("<|DSML|tool_calls>"),
        leak_span('<|DSML|invoke name="refund_refund_order">'),
    ),
    detail="A call of refund_order was due; raw DSML markup came as text.",
    more={"prompt_tokens": 1341, "cached_tokens": {"device": 0, "host": 1280}},
)


_TURNS_OF = {
    Outcome.LEAK: (TOOL_TURN, TurnSpec(), LEAKED_TURN),
    Outcome.ERROR: (TOOL_TURN,),
    Outcome.DONE: (TOOL_TURN, TurnSpec()),
}


class Scene(NamedTuple):
    stored: StoredCampaign
    runs: dict[str, RunRow]
    leaked: SessionRow | None


def decisive_test(store: Store, *, name: str = "decisive-test", now_us: int = START_US) -> Scene:
    """Three finished blocks at C = 80 and one at C = 1; one run invalid, one stopped and redone."""
    stored = stored_campaign(store, name=name, arms=ARMS)
    runs: dict[str, RunRow] = {}
    for block in (1, 2, 3):
        for arm in stored.arms:
            if arm.concurrency == 1 and block > 1:
                continue
            key = f"{arm.name} #{block}"
            runs[key] = counted_run(store, arm, _counts(arm, block), block=block)
    bad = runs[_key("fp8", "on", "fp8-sized", 80, block=2)]
    edit(store, bad, state=RunState.INVALID, reason="the arm is not what the server says it is")
    stopped = stored_run(
        store,
        stored.arms[7],
        state=RunState.STOPPED,
        block=5,
        reason="stopped on request",
        n_ended=12,
        n_done=12,
    )
    runs["stopped"] = stopped
    broken = runs[_key("bf16", "on", "fp8-sized", 80, block=1)]
    leaked = fill_run(store, broken, leaks=12, errors=0, sessions=80)
    wedged = runs[_key("bf16", "on", "dtype-aware", 80, block=1)]
    fill_run(store, wedged, leaks=5, errors=75, sessions=80)
    add_verdict(store, stored)
    worker_now(store, now_us=now_us)
    return Scene(stored, runs, leaked)


def half_way(store: Store, *, now_us: int = START_US, second: bool = False) -> Scene:
    """Two runs done, one driving with 52 of 80 sessions ended, the rest planned."""
    stored = stored_campaign(store, name="half-way", arms=ARMS)
    runs = {}
    for number, arm in enumerate(stored.arms):
        if number < 2:
            runs[arm.name] = counted_run(store, arm, _counts(arm, 1))
        elif number == 3:
            start = now_us - 60 * SECOND_US
            run = stored_run(store, arm, state=RunState.DRIVING, driving_at_us=start)
            add_launch(store, run)
            fill_run(store, run, leaks=3, errors=4, sessions=52, start_us=start)
            runs[arm.name] = run
        else:
            runs[arm.name] = stored_run(store, arm, state=RunState.PLANNED)
    worker_now(store, now_us=now_us, doing="driving r-3", name="w-2" if second else "w-1")
    return Scene(stored, runs, None)


def counted_run(
    store: Store, arm: ArmRow, counts: Mapping[Outcome, int], *, block: int = 1, **more: Any
) -> RunRow:
    """A finished run with counters and no session rows, a launch, and its verification."""
    columns = {f"n_{outcome}": count for outcome, count in counts.items()}
    start = START_US + ((block - 1) * len(ARMS) + arm.position) * 90 * SECOND_US
    silent = counts.get(Outcome.ERROR, 0)
    run = stored_run(
        store,
        arm,
        block=block,
        n_ended=sum(counts.values()),
        started_at_us=start,
        driving_at_us=start + 8 * SECOND_US,
        ended_at_us=start + 70 * SECOND_US,
        wall_s=61.7,
        wedge_lines=168 if silent > 40 else 0,
        wedge_requests=75 if silent > 40 else 0,
        peak_running=2.0 if silent > 40 else 71.0,
        verification=verification(arm),
        client_health={"event_loop_lag_p99_ms": 3.1, "cpu_share": 0.31, "is_saturated": False},
        exposure={"host_cached_tokens": 10240 if arm.levels["hicache"] == "on" else 0},
        **(columns | more),
    )
    add_launch(store, run)
    return run


def verification(arm: ArmRow) -> list[dict[str, Any]]:
    key_bytes = 132 if arm.levels["index_keys"] == "fp8" else 256
    return [
        {
            "factor": "index_keys",
            "level": arm.levels["index_keys"],
            "service": "server",
            "path": "internal_states.*.index_k_dtype",
            "expected": arm.levels["index_keys"],
            "found": arm.levels["index_keys"],
            "holds": True,
        },
        {
            "factor": "index_keys",
            "level": arm.levels["index_keys"],
            "service": "server",
            "path": "internal_states.*.memory_usage.index_key_bytes_per_token",
            "expected": key_bytes,
            "found": key_bytes,
            "holds": True,
        },
    ]


def fill_run(
    store: Store,
    run: RunRow,
    *,
    leaks: int,
    errors: int,
    sessions: int,
    start_us: int | None = None,
) -> SessionRow | None:
    """Sessions, metrics and log events for a run; the counters follow. Returns the first leak.

    The first three sessions have their turns, which is what pages open.
    """
    start = start_us or run.driving_at_us or START_US
    outcomes = [Outcome.LEAK] * leaks + [Outcome.ERROR] * errors
    outcomes += [Outcome.DONE] * (sessions - len(outcomes))
    edit(store, run, **{f"n_{outcome}": 0 for outcome in Outcome}, n_ended=0)
    opened = []
    for index, outcome in enumerate(outcomes[:3]):
        turns = _TURNS_OF[outcome]
        columns = _session_columns(outcome, index, start)
        session = stored_session(store, run, outcome, index=index, turns=turns, **columns)
        _spread_turns(store, stored_id(session), session.started_at_us)
        opened.append(session)
    rest = [
        session_row(stored_id(run), outcome, index=index, **_session_columns(outcome, index, start))
        for index, outcome in enumerate(outcomes[3:], start=3)
    ]
    _add(store, rest)
    numbers = {f"n_{outcome}": outcomes.count(outcome) for outcome in Outcome}
    edit(store, run, n_ended=sessions, **numbers)
    add_observations(store, run, start_us=start, errors=errors)
    return opened[0] if leaks else None


def _session_columns(outcome: Outcome, index: int, start_us: int) -> dict[str, Any]:
    begun = start_us + index * SECOND_US // 10
    is_leak = outcome is Outcome.LEAK
    return {
        "dialogue_key": f"d-{index:03}",
        "detail": LEAKED_TURN.detail if is_leak else None,
        "decisive_turn": 2 if is_leak else None,
        "started_at_us": begun,
        "ended_at_us": begun + (8 + index % 17) * SECOND_US,
        "host_cached_tokens": 1280 if is_leak else 0,
    }


def add_observations(store: Store, run: RunRow, *, start_us: int, errors: int) -> None:
    run_id = stored_id(run)
    curve = [0, 12, 40, 66, 71, 70, 69, 52, 40, 21, 12, 3, 0]
    rows: list[SQLModel] = []
    for step, value in enumerate(curve):
        at_us = start_us + 2 * step * SECOND_US
        shared = {"run_id": run_id, "service": "server", "at_us": at_us}
        rows.append(MetricSampleRow(name="sglang:num_running_reqs", value=value, **shared))
        rows.append(MetricSampleRow(name="sglang:num_queue_reqs", value=80 - value, **shared))
    for index in range(min(errors, 20)):
        rows.append(
            LogEventRow(
                run_id=run_id,
                service="server",
                at_us=start_us + (9 + index) * SECOND_US,
                kind="waiting_for_input",
                event_class="wedge",
                request_ref=f"4be1{index:02}",
                line=f"Decode transfer failed rid='4be1{index:02}' timed out in WaitingForInput",
            )
        )
    _add(store, rows)


def add_launch(store: Store, run: RunRow) -> None:
    started = run.started_at_us or START_US
    launch = LaunchRow(
        campaign_id=run.campaign_id,
        stack="testbed",
        commands={"server": ["python", "-m", "runner.testbed", "serve"]},
        started_at_us=started,
        ready_at_us=started + 4 * SECOND_US,
    )
    _add(store, [launch])
    _add(
        store,
        [
            FingerprintRow(
                launch_id=stored_id(launch),
                service="server",
                facts={"version": "0.1.0", "model": "tiny-dsml", "torch": "2.6.0"},
                taken_at_us=started,
            )
        ],
    )
    edit(store, run, launch_id=launch.id)


def add_verdict(store: Store, stored: StoredCampaign, **columns: Any) -> None:
    values: dict[str, Any] = {
        "headline": Headline.REFUTED,
        "elimination": Elimination.REFUTED,
        "direction": Direction.UNCLEAR,
        "availability": Availability.WORSE,
        "sentence": "Refuted: 5 corrupt sessions were seen where none was predicted.",
        "method": "criterion",
        "decided_at_us": START_US,
    }
    _add(store, [VerdictRow(hypothesis_id=stored.hypotheses[0].id, **{**values, **columns})])


def worker_now(store: Store, *, now_us: int, doing: str | None = None, name: str = "w-1") -> None:
    _add(
        store,
        [
            WorkerRow(
                name=name,
                host="here",
                process_id=1,
                started_at_us=now_us,
                heartbeat_at_us=now_us,
                doing=doing,
            )
        ],
    )


def edit(store: Store, run: RunRow, **columns: Any) -> None:
    """Change columns of a stored run, in the row at hand too."""
    with store.write() as session:
        row = session.exec(select(RunRow).where(RunRow.id == run.id)).one()
        for name, value in columns.items():
            setattr(row, name, value)
            setattr(run, name, value)


def _counts(arm: ArmRow, block: int) -> dict[Outcome, int]:
    levels = arm.levels
    broken = levels["index_keys"] == "bf16" and levels["hicache"] == "on"
    if arm.concurrency == 1:
        return {Outcome.DONE: 20}
    if broken and levels["host_pool"] == "fp8-sized":
        return {Outcome.LEAK: 13 - block, Outcome.DONE: 67 + block}
    if broken and block == 1:
        return {Outcome.LEAK: 5, Outcome.ERROR: 75}
    if levels["hicache"] == "off" and block == 2:
        return {Outcome.DONE: 79, Outcome.ERROR: 1}
    return {Outcome.DONE: 80}


def _key(index_keys: str, hicache: str, host_pool: str, concurrency: int, *, block: int) -> str:
    return f"{arm_spec(index_keys, hicache, host_pool, concurrency=concurrency).name} #{block}"


def _spread_turns(store: Store, session_id: int, start_us: int) -> None:
    """Two seconds from turn to turn, from the start of the session on."""
    with store.write() as session:
        for turn in session.exec(select(TurnRow).where(TurnRow.session_id == session_id)):
            turn.started_at_us = start_us + turn.turn_index * 2 * SECOND_US


def _add(store: Store, rows: Sequence[SQLModel]) -> None:
    with store.write() as session:
        session.add_all(rows)


SERVER_DIED = [RunFlag.SERVER_DIED]
