"""In which order the arms run: each arm once a block, shuffled by the seed; knows no clock.

A fixed or alternating order lets drift of the machine pass for an effect of the arm.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from runner.campaign.campaign import Arm, Campaign, PlannedRun
from runner.campaign.definition import run_key

T = TypeVar("T")


def schedule_runs(campaign: Campaign, arms: Sequence[Arm]) -> tuple[PlannedRun, ...]:
    """Blocks count from 1, positions from 0 through the whole campaign."""
    ordered = [
        (block, arm)
        for block in range(1, campaign.schedule.blocks + 1)
        for arm in shuffled(arms, f"order {campaign.schedule.order_seed} block {block}")
    ]
    return tuple(
        PlannedRun(arm=arm, block=block, position=position, run_key=run_key(campaign, arm, block))
        for position, (block, arm) in enumerate(ordered)
    )


def shuffled(items: Sequence[T], seed: str) -> list[T]:
    """The items in an order that only `seed` and their number decide, on every Python version.

    Fisher and Yates from the end, in the form of Durstenfeld (CACM 7, 1964, algorithm 235), with
    SHA-256 of "seed/step" as the random number.
    """
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        digest = hashlib.sha256(f"{seed}/{last}".encode()).digest()
        chosen = int.from_bytes(digest, "big") % (last + 1)
        result[last], result[chosen] = result[chosen], result[last]
    return result
