"""In which order the arms run: each once a block, shuffled by the seed; knows no clock.

A fixed or alternating order lets drift of the machine pass for an effect of an arm.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from runner.campaign.campaign import Arm, Campaign, PlannedRun, RestartPolicy
from runner.campaign.definition import run_key
from runner.campaign.stack_file import LaunchSettings, Stack

T = TypeVar("T")


def schedule_runs(
    campaign: Campaign, arms: Sequence[Arm], *, stack: Stack
) -> tuple[PlannedRun, ...]:
    """Blocks count from 1, positions from 0 through the whole campaign.

    With `restart: when_needed` the arms that can share a launch stand together in a block: the
    launches are shuffled, and the arms inside each.
    """
    ordered = [
        (block, arm)
        for block in range(1, campaign.schedule.blocks + 1)
        for arm in _ordered_block(campaign, arms, block, stack)
    ]
    return tuple(
        PlannedRun(arm=arm, block=block, position=position, run_key=run_key(campaign, arm, block))
        for position, (block, arm) in enumerate(ordered)
    )


def _ordered_block(campaign: Campaign, arms: Sequence[Arm], block: int, stack: Stack) -> list[Arm]:
    seed = f"order {campaign.schedule.order_seed} block {block}"
    if campaign.schedule.restart is RestartPolicy.EVERY_RUN:
        return shuffled(arms, seed)
    by_launch: dict[LaunchSettings, list[Arm]] = {}
    for arm in arms:
        by_launch.setdefault(stack.launch_settings(arm.levels), []).append(arm)
    plots = [shuffled(plot, f"{seed} launch {i}") for i, plot in enumerate(by_launch.values())]
    return [arm for plot in shuffled(plots, seed) for arm in plot]


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
