"""The size of a prefix cache is taken from what servers say of it, and never guessed."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from runner.campaign.stack_file import LaunchSettings
from runner.campaign.stack_shape import ControllerName, MetricsEndpoint, ServiceDefinition
from runner.observe.exposition import read_exposition
from runner.stacks.device_pool import (
    device_tokens,
    longest_prompt_tokens,
    tokens_in_metrics,
    tokens_in_report,
)
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ServiceLaunch

# Two data-parallel ranks; the tensor-parallel ones of a rank repeat its number.
SGLANG = b"""\
# TYPE sglang:max_total_num_tokens gauge
sglang:max_total_num_tokens{dp_rank="0",tp_rank="0"} 1000
sglang:max_total_num_tokens{dp_rank="0",tp_rank="1"} 1000
sglang:max_total_num_tokens{dp_rank="1",tp_rank="0"} 3000
"""
VLLM = b"""\
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="7281"} 1.0
"""


@pytest.mark.parametrize(
    ("page", "tokens"),
    [
        (SGLANG, 4_000),
        (VLLM, 116_496),
        (VLLM.replace(b'"7281"', b'"None"'), None),
        (b"# TYPE x gauge\nx 1\n", None),
    ],
)
def test_a_pool_is_read_off_the_metrics(page: bytes, tokens: int | None) -> None:
    assert tokens_in_metrics(list(read_exposition(page))) == tokens


@pytest.mark.parametrize(
    ("report", "tokens"),
    [
        ({"max_total_num_tokens": 16_896}, 16_896),
        ({"max_total_num_tokens": 1_000, "dp_size": 8}, 8_000),
        ({"max_total_num_tokens": None}, None),
        ({"max_total_num_tokens": True}, None),
        ({}, None),
    ],
)
def test_a_pool_is_read_off_the_report_of_a_rank(
    report: Mapping[str, Any], tokens: int | None
) -> None:
    assert tokens_in_report(report) == tokens


def service(name: str, **settings: object) -> ServiceLaunch:
    own = ServiceDefinition(
        controller=ControllerName.EXTERNAL,
        base_url=f"http://{name}",
        **settings,  # type: ignore[arg-type]
    )
    return ServiceLaunch(name, (), {}, own.base_url, own)


def running(*services: ServiceLaunch) -> RunningStack:
    return RunningStack("m", LaunchSettings(()), services, {})


def answer(request: httpx.Request) -> httpx.Response:
    pages: dict[tuple[str, str], httpx.Response] = {
        ("prefill", "/metrics"): httpx.Response(200, content=SGLANG),
        ("decode", "/server_info"): httpx.Response(200, json={"max_total_num_tokens": 77}),
        ("router", "/v1/models"): httpx.Response(
            200, json={"data": [{"id": "x"}, {"id": "m", "max_model_len": 4096}]}
        ),
    }
    return pages.get((request.url.host, request.url.path), httpx.Response(404))


ROUTER = service("router", role="router")
PREFILL = service("prefill", role="prefill", metrics=MetricsEndpoint())
DECODE = service("decode", role="decode", server_info="/server_info")
ENGINE = service("decode", server_info="/server_info", metrics=MetricsEndpoint())


@pytest.mark.parametrize(
    ("services", "tokens"),
    [
        ([ROUTER, PREFILL, DECODE], 4_000),
        ([ENGINE], 77),
        ([ENGINE, service("mute")], None),
    ],
    ids=["prefill alone keeps prefixes", "the report stands in", "one that tells nothing"],
)
async def test_the_pools_of_a_stack_are_added_up(
    services: list[ServiceLaunch], tokens: int | None
) -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        assert await device_tokens(running(*services), http=http) == tokens


async def test_the_longest_prompt_is_that_of_the_model_that_is_asked() -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        assert await longest_prompt_tokens(running(ROUTER), http=http) == 4096
        assert await longest_prompt_tokens(running(PREFILL), http=http) is None
