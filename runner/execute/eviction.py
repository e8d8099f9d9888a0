"""Leaves what the sessions of a run ask first in the host's memory, before the run is driven."""

from dataclasses import replace
from math import ceil
from typing import Final

from runner.campaign.campaign import EvictFlood
from runner.errors import StackControlError
from runner.evidence.number_words import counted_text
from runner.execute.progress import RunOfCampaign
from runner.execute.run_request import request_of
from runner.execute.run_setting import RunSetting
from runner.judge.json_values import JsonObject
from runner.sessions.chat_request import ChatRequest
from runner.sessions.first_request import first_request
from runner.sessions.scenario import scenario_of
from runner.sessions.word_list import read_word_list
from runner.stacks.device_pool import device_tokens, longest_prompt_tokens
from runner.stacks.eviction_flood import MARGIN, EvictionFlood, Flooded, FloodSize
from runner.stacks.running_stack import RunningStack

LONGEST_PROMPT_TOKENS = 8_000
_UNKNOWN_LIMIT_TOKENS = 2_000
_SHARE_OF_THE_LIMIT = 0.75
_ONE_TOKEN: Final[JsonObject] = {"max_tokens": 1, "max_completion_tokens": None}


async def evict_prefixes(
    run: RunOfCampaign, setting: RunSetting, running: RunningStack, wanted: EvictFlood
) -> Flooded | None:
    """None where the arm is an endpoint of others: its caches are not ours to fill, nor to pay for.

    Raises StackControlError where the pool's size is not known, or a prompt is refused.
    """
    if running.settings.endpoint is not None:
        return None
    size = await _size(wanted, setting, running)
    prefix = f"r{run.run_id}-flood"
    flood = EvictionFlood(
        running=running,
        http=setting.http,
        clock=setting.store.clock,
        prefix=prefix,
        words=read_word_list().fillers,
        deadline_s=setting.campaign.workload.deadlines.session_s,
    )
    request = request_of(setting.campaign, setting.stack, run.arm, running)
    shortest = replace(request, stream=False, max_tokens=1, extra={**request.extra, **_ONE_TOKEN})
    flooded = await flood.send(_first_requests(run, setting, shortest, prefix), size)
    setting.progress.note(
        f"evict_flood: {flooded.prompts} prompts of {flooded.tokens:,} tokens in all pushed the "
        f"first requests of {run.arm.sessions} sessions out of the devices' memory in "
        f"{flooded.seconds:.1f} s"
    )
    return flooded


def planned_flood(wanted: EvictFlood, running: RunningStack, *, sessions: int) -> str | None:
    """In words, before any server has said how much it holds; None where none is sent."""
    if running.settings.endpoint is not None:
        return None
    first = (
        f"the first requests of {counted_text(sessions, 'session')}, "
        f"{counted_text(wanted.repeats, 'time')} each"
    )
    if wanted.prompt_tokens is None:
        share = f"{_SHARE_OF_THE_LIMIT:.0%} of the longest prompt"
        size = f"{share}, at most {LONGEST_PROMPT_TOKENS:,} tokens"
    else:
        size = f"about {wanted.prompt_tokens:,} tokens"
    if wanted.tokens is None:
        count = f"requests for {MARGIN:g} times what the devices hold"
    elif wanted.prompt_tokens is None:
        count = f"requests of {wanted.tokens:,} tokens in all"
    else:
        count = counted_text(ceil(wanted.tokens / wanted.prompt_tokens), "request")
    return f"{first}, then {count}, each of {size}"


def _first_requests(
    run: RunOfCampaign, setting: RunSetting, request: ChatRequest, prefix: str
) -> list[dict[str, object]]:
    scenario = scenario_of(setting.campaign)
    return [
        dict(first_request(scenario.dialogue(each), request, request_id=f"{prefix}-s{each}"))
        for each in range(run.arm.sessions)
    ]


async def _size(wanted: EvictFlood, setting: RunSetting, running: RunningStack) -> FloodSize:
    tokens = wanted.tokens
    if tokens is None:
        held = await device_tokens(running, http=setting.http)
        if held is None:
            raise StackControlError(
                "evict_flood: no server says how many tokens its devices hold (SGLang and vLLM do "
                "in their metrics): name `tokens` in the campaign file"
            )
        tokens = round(MARGIN * held)
    return FloodSize(tokens, await _prompt_tokens(wanted, setting, running), wanted.repeats)


async def _prompt_tokens(wanted: EvictFlood, setting: RunSetting, running: RunningStack) -> int:
    if wanted.prompt_tokens is not None:
        return wanted.prompt_tokens
    longest = await longest_prompt_tokens(running, http=setting.http)
    if longest is None:
        return _UNKNOWN_LIMIT_TOKENS
    return max(1, min(LONGEST_PROMPT_TOKENS, round(longest * _SHARE_OF_THE_LIMIT)))
