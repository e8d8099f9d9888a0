"""What the requests of one run have in common: the workload's, its arm's and its servers' part."""

from typing import cast

from runner.campaign.campaign import Arm, Campaign
from runner.campaign.stack_file import Stack
from runner.judge.json_values import Json
from runner.sessions.chat_request import ChatRequest
from runner.stacks.running_stack import RunningStack


def request_of(campaign: Campaign, stack: Stack, arm: Arm, running: RunningStack) -> ChatRequest:
    workload = campaign.workload
    of_levels = {
        name: value
        for _, effect in stack.effects_of(arm.levels)
        for name, value in effect.request.items()
    }
    speaks_sglang = running.speaks_sglang
    of_dialect = {"return_cached_tokens_details": True} if speaks_sglang else {}
    return ChatRequest(
        model=running.model,
        max_tokens=workload.max_tokens,
        stream=workload.stream,
        extra=cast(dict[str, Json], {**of_dialect, **workload.request, **of_levels}),
        request_id_field="rid" if speaks_sglang else None,
    )
