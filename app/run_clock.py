"""The clock of one run: seconds count from its first request, as every page shows them; pure."""

import pandas as pd

from app.wording import SECOND_US
from db.reads.runs import RunCounts


def run_origin_us(run: RunCounts, spans: pd.DataFrame) -> int:
    """The first request; before it is known, the moment at which driving, or the run, began."""
    if len(spans):
        return int(spans["started_at_us"].min())
    return run.driving_at_us or run.started_at_us or run.planned_at_us


def seconds_into(at_us: int, origin_us: int) -> float:
    return (at_us - origin_us) / SECOND_US


def elapsed_s(run: RunCounts, *, now_us: int) -> float | None:
    """The wall time of a run that ended; of one in work, the seconds since it began to drive."""
    if run.wall_s is not None:
        return run.wall_s
    if run.driving_at_us is None:
        return None
    return seconds_into(run.ended_at_us or now_us, run.driving_at_us)


def open_sessions(run: RunCounts, concurrency: int) -> int:
    """How many sessions are in flight, as far as the closed loop says."""
    if not run.run_state.is_active or run.driving_at_us is None:
        return 0
    return max(0, min(concurrency, run.sessions_planned - run.n_ended))
