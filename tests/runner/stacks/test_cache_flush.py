"""A cache counts as empty once the server has said so in its own way."""

import httpx
import pytest

from db.clock import SystemClock
from runner.campaign.stack_file import LaunchSettings
from runner.campaign.stack_shape import ControllerName, ServiceDefinition
from runner.stacks.cache_flush import flush_caches
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ServiceLaunch

DEFINITION = ServiceDefinition(
    controller=ControllerName.EXTERNAL,
    base_url="http://server:1",
    flush_cache="/flush_cache",
    clear_storage="/hicache/storage-backend/clear",
)
RUNNING = RunningStack(
    "m",
    LaunchSettings(()),
    (ServiceLaunch("server", (), {}, DEFINITION.base_url, DEFINITION),),
    {},
)


async def flushed(answers: list[httpx.Response], *, clears_storage: bool = False) -> str:
    """What the flush says of a server that gives these answers, the last one for good."""

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.method == "POST"
        asked.append(request.url.path)
        given = answers.pop(0) if len(answers) > 1 else answers[0]
        return httpx.Response(given.status_code, content=given.content)

    asked: list[str] = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        said = await flush_caches(
            RUNNING, http=http, clock=SystemClock(), deadline_s=0.0, clears_storage=clears_storage
        )
    return ", ".join(asked) if said is None else said.sentence


@pytest.mark.parametrize("text", ["Cache flushed.", '{"success": true}', ""])
async def test_an_accepted_flush_is_one_request(text: str) -> None:
    assert await flushed([httpx.Response(200, text=text)]) == "/flush_cache"


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        (httpx.Response(400, text="requests are pending"), "requests are pending"),
        (httpx.Response(200, text='{"success": false}'), '{"success": false}'),
        (httpx.Response(503), "status 503"),
    ],
)
async def test_a_refusal_is_told_as_the_server_told_it(refused: httpx.Response, told: str) -> None:
    assert await flushed([refused]) == f"server refused to flush its cache for 0 s: {told}"


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (404, "correct flush_cache in the stack file (vLLM has it only with"),
        (405, "correct flush_cache in the stack file"),
        (401, "admin_key_env in the stack file"),
        (403, "admin_key_env in the stack file"),
    ],
)
async def test_what_no_waiting_mends_is_told_at_once_with_what_to_do(
    status: int, advice: str
) -> None:
    said = await flushed([httpx.Response(status, text="no")])

    assert said.startswith(
        f"server refused to flush its cache: http://server:1/flush_cache answered {status}; "
    )
    assert advice in said


async def test_the_storage_behind_the_host_cache_is_emptied_between_arms() -> None:
    accepted = httpx.Response(200)

    assert await flushed([accepted], clears_storage=True) == (
        "/flush_cache, /hicache/storage-backend/clear"
    )
    assert await flushed([accepted, httpx.Response(400, text="no")], clears_storage=True) == (
        "server refused to clear its storage for 0 s: no"
    )
