"""What may be said while runs are open, as the engine wrote it; computes nothing.

Each sentence is progress and no verdict. A page shows it as it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from db.reads.relations import HYPOTHESIS, RUN, columns_of, values
from db.run_states import ACTIVE_STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that is being worked on. `progress_said`: None until its first session has ended."""

    id: int
    campaign_id: int
    arm_id: int
    state: str
    n_ended: int
    sessions_planned: int
    progress_said: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSoFar:
    """How far finished runs bear a hypothesis. `progress_said`: None until a run has ended."""

    id: int
    campaign_id: int
    slug: str
    is_registered: bool
    progress_said: str | None


def open_runs(connection: Connection, campaign_ids: Sequence[int]) -> list[OpenRun]:
    """The runs of the campaigns named that are worked on now, in the order of their beginning."""
    statement = (
        select(*columns_of(RUN, OpenRun))
        .where(RUN.c.campaign_id.in_(campaign_ids), RUN.c.state.in_(ACTIVE_STATES))
        .order_by(RUN.c.started_at_us)
    )
    return values(OpenRun, connection.execute(statement))


def evidence_so_far(connection: Connection, campaign_ids: Sequence[int]) -> list[EvidenceSoFar]:
    """Every hypothesis of the campaigns named, in the order in which they were written."""
    statement = (
        select(*columns_of(HYPOTHESIS, EvidenceSoFar))
        .where(HYPOTHESIS.c.campaign_id.in_(campaign_ids))
        .order_by(HYPOTHESIS.c.campaign_id, HYPOTHESIS.c.id)
    )
    return values(EvidenceSoFar, connection.execute(statement))
