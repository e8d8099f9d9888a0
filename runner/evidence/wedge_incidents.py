"""From the times of wedge signs to incidents: signs that no quiet gap parts are one incident."""

from collections.abc import Iterable
from typing import NamedTuple

DEFAULT_QUIET_GAP_S = 60.0


class Incident(NamedTuple):
    """From its first sign to its last, in seconds on the clock of the signs."""

    began_s: float
    ended_s: float
    signs: int


def merge_incidents(
    signs_s: Iterable[float], *, quiet_gap_s: float = DEFAULT_QUIET_GAP_S
) -> tuple[Incident, ...]:
    """A sign opens a new incident when nothing was seen for longer than the gap before it."""
    incidents: list[Incident] = []
    for at_s in sorted(signs_s):
        if incidents and at_s - incidents[-1].ended_s <= quiet_gap_s:
            last = incidents[-1]
            incidents[-1] = Incident(last.began_s, at_s, last.signs + 1)
        else:
            incidents.append(Incident(at_s, at_s, 1))
    return tuple(incidents)
