"""Who works on this store: processes that say that they live, and how their silence is read."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlmodel import Session, col, select

from db.errors import RowMissingError
from db.process_liveness import is_process_alive, this_host
from db.store import Store
from db.tables.work import WorkerRow

HEARTBEAT_S = 2.0
"""How often a worker says that it is alive."""

SILENT_AFTER_S = 60.0
"""After how much silence a worker counts as dead, wherever it runs."""

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Liveness:
    """How a dead process is told from a living one, seen from one machine at one time."""

    now_us: int
    host: str
    is_alive: Callable[[int], bool] = is_process_alive
    silent_after_s: float = SILENT_AFTER_S

    def is_dead(self, worker: WorkerRow) -> bool:
        """It said goodbye, its process is gone from this machine, or it is silent for too long."""
        if worker.ended_at_us is not None:
            return True
        if worker.host == self.host and not self.is_alive(worker.process_id):
            return True
        return self.now_us - worker.heartbeat_at_us > self.silent_after_s * _SECOND_US


def liveness_now(store: Store) -> Liveness:
    return Liveness(now_us=store.clock.utc_us(), host=this_host())


def worker_started(store: Store, name: str, *, process_id: int, host: str) -> WorkerRow:
    """Say that the worker lives; the row of an earlier worker of the same name is taken over."""
    now_us = store.clock.utc_us()
    with store.write() as session:
        worker = session.get(WorkerRow, name) or WorkerRow(
            name=name,
            host=host,
            process_id=process_id,
            started_at_us=now_us,
            heartbeat_at_us=now_us,
        )
        worker.host = host
        worker.process_id = process_id
        worker.started_at_us = worker.heartbeat_at_us = now_us
        worker.doing = worker.ended_at_us = None
        session.add(worker)
    return worker


def worker_beat(store: Store, name: str, *, doing: str | None) -> None:
    """Say that the worker lives and what it is at. Raises RowMissingError."""
    with store.write() as session:
        worker = _find(session, name)
        worker.heartbeat_at_us = store.clock.utc_us()
        worker.doing = doing


def worker_ended(store: Store, name: str) -> None:
    """Raises RowMissingError."""
    with store.write() as session:
        worker = _find(session, name)
        worker.ended_at_us = store.clock.utc_us()
        worker.doing = None


def living_workers(store: Store, *, liveness: Liveness) -> list[WorkerRow]:
    with store.session() as session:
        workers = session.exec(
            select(WorkerRow)
            .where(col(WorkerRow.ended_at_us).is_(None))
            .order_by(col(WorkerRow.name))
        ).all()
    return [worker for worker in workers if not liveness.is_dead(worker)]


def _find(session: Session, name: str) -> WorkerRow:
    worker = session.get(WorkerRow, name)
    if worker is None:
        raise RowMissingError(f"There is no worker {name!r}: say first that it started.")
    return worker
