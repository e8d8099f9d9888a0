"""How far a number can be lowered while the reduced arm still flips: by halving. Pure.

Rates fall with the load, so that there is no edge to be found exactly: the search ends when the
next step would gain less than a fifth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

from runner.reduce.standing import Standing

_WORTH_IT = 0.8


@dataclass(frozen=True, slots=True)
class Lowered:
    """`amount` still flips, where `is_known`; else it is still to be tried."""

    amount: int
    is_known: bool


def lowered(start: int, least: int, standing: Callable[[int], Standing]) -> Lowered:
    """From `start`, which flips, down towards `least`; middles are geometric.

    An amount counts as flipping only when that is decided, and is given up as soon as it leans to
    clean: a smaller load that needs many runs to be seen failing is no better reproduction.
    """
    flips, clean = start, least - 1
    tried = least
    while clean + 1 < flips and tried <= flips * _WORTH_IT:
        now = standing(tried)
        if now is Standing.FLIPS:
            flips = tried
        elif now.seems_clean or now.is_final:
            clean = tried
        else:
            return Lowered(tried, is_known=False)
        tried = max(clean + 1, isqrt(max(clean, 1) * flips))
    return Lowered(flips, is_known=True)
