"""What counts as one in a sentence: a run, or the launch of the servers that several runs share."""

from typing import NamedTuple

RUN = "run"
LAUNCH = "launch"

FRESH_LAUNCHES = (
    "restart the servers between blocks (`restart: every_run` in the schedule and "
    "`may_restart: true` in the stack file; with `controller: external` stop after a block, "
    "restart them by hand, and give the command again)"
)


class Unit(NamedTuple):
    """What counts as one, and how many runs it has."""

    noun: str = RUN
    runs: int = 1

    @property
    def is_launch(self) -> bool:
        return self.noun == LAUNCH


def unit_of(*, shares_launches: bool) -> str:
    return LAUNCH if shares_launches else RUN
