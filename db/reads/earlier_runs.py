"""How long the runs of earlier campaigns took: what a plan of the same campaign can go by."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from db.reads.relations import ARM, CAMPAIGN, RUN, values
from db.tables.columns import Json
from db.vocabulary import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """One that played all its sessions. `launch_s`: from its beginning to its first session."""

    arm_name: str
    sessions: int
    definition: Json
    wall_s: float
    started_at_us: int
    driving_at_us: int

    @property
    def launch_s(self) -> float:
        return (self.driving_at_us - self.started_at_us) / 1e6


def earlier_runs(
    connection: Connection, campaign_name: str, *, stack: str, limit: int = 500
) -> list[EarlierRun]:
    """Of all campaigns of that name on that stack, the newest first; `definition` says of which."""
    statement = (
        select(
            ARM.c.name.label("arm_name"),
            RUN.c.n_ended.label("sessions"),
            CAMPAIGN.c.definition,
            RUN.c.wall_s,
            RUN.c.started_at_us,
            RUN.c.driving_at_us,
        )
        .join_from(RUN, ARM, RUN.c.arm_id == ARM.c.id)
        .join(CAMPAIGN, RUN.c.campaign_id == CAMPAIGN.c.id)
        .where(
            CAMPAIGN.c.name == campaign_name,
            CAMPAIGN.c.stack == stack,
            RUN.c.state == RunState.DONE,
            RUN.c.n_ended == RUN.c.sessions_planned,
            RUN.c.wall_s.is_not(None),
            RUN.c.started_at_us.is_not(None),
            RUN.c.driving_at_us.is_not(None),
        )
        .order_by(RUN.c.id.desc())
        .limit(limit)
    )
    return values(EarlierRun, connection.execute(statement))
