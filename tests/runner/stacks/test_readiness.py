"""When a service counts as started, by the clock of the test."""

from collections.abc import Callable, Iterator
from itertools import chain

import httpx
import pytest

from runner.errors import StackStartError
from runner.stacks.readiness import MISSING_FOR_S, ReadinessProbe, wait_until_ready
from tests.runner.sessions.fast_forward import LoopClock, run_in_no_time

PROBE = ReadinessProbe("server", "http://s/health", "http://s/v1/chat/completions", "m", 60)


def _waiting(
    chats: Iterator[int], health: int = 200, exit_status: int | None = None, text: str = "{}"
) -> float:
    """Asks until it is over; `chats` are the statuses of the generations, in order. Seconds."""

    def answer(request: httpx.Request) -> httpx.Response:
        is_health = request.url.path == "/health"
        return httpx.Response(health if is_health else next(chats), text=text)

    async def wait() -> float:
        clock = LoopClock()
        began_s = clock.monotonic_s()
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
            await wait_until_ready(PROBE, http=http, clock=clock, exit_status=lambda: exit_status)
        return clock.monotonic_s() - began_s

    return run_in_no_time(wait())


def always(status: int) -> Iterator[int]:
    while True:
        yield status


def test_a_front_end_whose_workers_come_late_is_waited_for() -> None:
    _waiting(iter([404, 404, 503, 404, 200]))


def test_a_server_that_goes_on_knowing_no_chats_is_given_up_soon() -> None:
    with pytest.raises(StackStartError, match=r"knows no http://s/v1/chat.* check the server"):
        _waiting(always(404))


def test_a_server_that_does_not_know_the_model_is_quoted_and_the_model_named() -> None:
    with pytest.raises(StackStartError, match=r"for 'm' .*404: no model m.* and the model's name"):
        _waiting(always(404), text="no model m")


def test_what_a_router_refused_is_told_though_it_has_since_shut_out_its_worker() -> None:
    """SGLang's router, after five 404 of a vLLM that was asked for the model `unknown`."""
    with pytest.raises(StackStartError, match=r"last: .* 503: .*before that: it knows no .* 404: "):
        _waiting(chain([404] * 5, always(503)))


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        (lambda: _waiting(always(500)), "was not ready within 60 s .*a generation answered 500"),
        (lambda: _waiting(always(200), health=503), "/health answered 503"),
        (lambda: _waiting(always(200), exit_status=9), "ended with status 9 while starting"),
    ],
)
def test_what_was_seen_last_is_told(waiting: Callable[[], float], said: str) -> None:
    with pytest.raises(StackStartError, match=said):
        waiting()


def test_health_alone_is_not_ready_and_a_generation_is() -> None:
    assert _waiting(iter([500, 200])) < MISSING_FOR_S
