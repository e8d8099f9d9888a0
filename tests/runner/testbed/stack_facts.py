"""Which facts the shipped stack files ask of a testbed server, and whether it reports them."""

from pathlib import Path
from typing import Any

from runner.campaign.stack_file import load_stack
from runner.stacks.verification import values_at

STACKS = Path(__file__).parents[3] / "configs" / "stacks"


def unreported(stack: str, service: str, server_info: dict[str, Any]) -> list[str]:
    """Places of `verify` in STACK.yaml that are asked of the service and hold nothing there."""
    loaded = load_stack(STACKS / f"{stack}.yaml")
    return [
        check.server_info
        for levels in loaded.factors.values()
        for effect in levels.values()
        for check in effect.verify
        if check.server_info is not None
        and service in loaded.services_at(check.at)
        and not list(values_at(server_info, check.server_info))
    ]
