"""Asks whoever runs an external service to bring it into the arm, and waits until it is there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from db.clock import Clock
from runner.campaign.stack_shape import ControllerName
from runner.errors import StackError
from runner.stacks.arm_proof import ArmProof
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ENDPOINT, ServiceLaunch

POLL_S = 2.0
Changes = Callable[[str], str]  # of a service, what is to be changed at it


@dataclass(frozen=True, slots=True)
class SwitchRequest:
    """Services that are not in the arm, and how long their owners have."""

    services: tuple[ServiceLaunch, ...]
    proof: ArmProof
    within_s: float
    changes: Changes

    def sentence(self, arm: str) -> str:
        asked = switch_sentence(self.services, arm, self.changes)
        return f"{asked} (now {self.proof.failures[0].sentence()})"


def switch_sentence(services: Sequence[ServiceLaunch], arm: str, changes: Changes) -> str:
    asked = "; ".join(_asked(service, changes(service.name)) for service in services)
    within_s = _within_s(services)
    return f"please bring the stack into the arm {arm} within {within_s:g} s: {asked}"


def switch_request(
    running: RunningStack, proof: ArmProof, changes: Changes
) -> SwitchRequest | None:
    """None where what fails is ours to start, or nobody's to switch."""
    failing = {failure.service for failure in proof.failures}
    services = tuple(launch for launch in running.launches if launch.name in failing)
    is_theirs = [
        launch.definition.controller is ControllerName.EXTERNAL and launch.name != ENDPOINT
        for launch in services
    ]
    if not services or not all(is_theirs):
        return None
    return SwitchRequest(services, proof, _within_s(services), changes)


async def proof_after_switch(
    request: SwitchRequest, prove: Callable[[], Awaitable[ArmProof]], *, clock: Clock
) -> ArmProof:
    """The first proof that holds, or the last one when the time is over.

    A service that does not answer is being restarted.
    """
    ends_s = clock.monotonic_s() + request.within_s
    proof = request.proof
    while proof.failures and (left_s := ends_s - clock.monotonic_s()) > 0:
        await asyncio.sleep(min(POLL_S, left_s))
        try:
            proof = await prove()
        except StackError:
            continue
    return proof


def _within_s(services: Sequence[ServiceLaunch]) -> float:
    return max(launch.definition.switch_within_s for launch in services)


def _asked(launch: ServiceLaunch, change: str) -> str:
    wanted = change or "the stack file names neither flags nor variables for it"
    return f"{launch.name} ({launch.base_url}): {wanted}"
