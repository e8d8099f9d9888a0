"""What an event of one kind says besides its kind: phase, gap, method, who did it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from runner.observe.log_events import LogEvent
from runner.observe.log_findings import LogFinding, with_fields
from runner.observe.log_times import DAY_S, clock_of

PhaseOf: TypeAlias = Callable[[LogEvent], str]


def described(finding: LogFinding, events: Sequence[LogEvent], phase_of: PhaseOf) -> LogFinding:
    """The finding with what only its kind has. `phase_of`: startup or serving."""
    describe = _DESCRIBED.get(finding.kind)
    fields = describe(events) if describe is not None else {}
    if finding.kind == "shm_wait":
        fields["phase"] = phase_of(events[-1])
    where = finding.ranks[0] if finding.ranks else None
    return with_fields(finding, where=where, **fields)


def is_clients_doing(event: LogEvent) -> bool:
    """Whether the reason of an abort says that the client did it."""
    message = event.fields.get("message", "").lower()
    return "client" in message or "disconnect" in message


def heartbeat_gap_s(event: LogEvent) -> float | None:
    """How old the heartbeat was when the line was written, both on the server's own clock."""
    beat = clock_of(event.fields.get("heartbeat", ""))
    if beat is None:
        return None
    if event.record.own_s is not None:
        return (int(event.record.own_s) - beat) % DAY_S
    tic, waited_s = clock_of(event.fields.get("tic", "")), event.fields.get("waited_s", "0")
    return None if tic is None else (tic - beat) % DAY_S + float(waited_s)


_Fields = dict[str, Any]


def _of_watchdog(events: Sequence[LogEvent]) -> _Fields:
    soft = [event.fields.get("soft") for event in events]
    return {"soft": None if None in soft else soft[-1] == "True"}


def _of_health(events: Sequence[LogEvent]) -> _Fields:
    gaps = [gap for event in events if (gap := heartbeat_gap_s(event)) is not None]
    return {"gap_s": max(gaps) if gaps else None}


def _of_rpc(events: Sequence[LogEvent]) -> _Fields:
    return {"method": events[0].fields.get("method")}


def _of_retract(events: Sequence[LogEvent]) -> _Fields:
    return {"requests": sum(int(event.fields.get("requests", 1)) for event in events)}


def _of_aborted(events: Sequence[LogEvent]) -> _Fields:
    rids = dict.fromkeys(name for event in events for name in event.requests)
    by = "client" if all(is_clients_doing(event) for event in events) else "server"
    return {"rid": next(iter(rids)) if len(rids) == 1 else None, "by": by}


def _of_exception(events: Sequence[LogEvent]) -> _Fields:
    last = events[0].record.lines[-1]
    is_memory = "OutOfMemory" in events[0].record.text or "out of memory" in last
    return {"reason": "oom" if is_memory else last[:200]}


_DESCRIBED: Mapping[str, Callable[[Sequence[LogEvent]], _Fields]] = {
    "watchdog_timeout": _of_watchdog,
    "health_fail": _of_health,
    "rpc_timeout": _of_rpc,
    "retract": _of_retract,
    "request_aborted": _of_aborted,
    "scheduler_exception": _of_exception,
    "exception": _of_exception,
}
