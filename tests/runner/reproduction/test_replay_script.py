"""What the stand-alone script makes of an answer; it is loaded as the file that users get."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx
import pytest

from runner.reproduction import replay as replay_script
from runner.reproduction.replay import (
    Answer,
    ask,
    empty_caches,
    rate_line,
    renamed,
    report,
    what_is_wrong,
    wilson,
    worst,
)

CALL = {"kind": "call", "name": "send_letter", "arguments": {"to": "Ann"}}
ANSWER = {"kind": "answer", "must_contain": ["blue"]}
MARKUP = ["<[|]DSML[|]"]


def called(name: str, arguments: str) -> Answer:
    return Answer(calls={0: {"name": name, "arguments": arguments}})


@pytest.mark.parametrize(
    ("answer", "due", "said"),
    [
        (called("send_letter", '{"to": "Ann"}'), CALL, ""),
        (called("send_letter", '{"to": "Bob"}'), CALL, "other arguments"),
        (called("send_letter", '{"to": '), CALL, "no JSON"),
        (called("burn_letter", "{}"), CALL, "a call of 'burn_letter'"),
        (Answer("I will."), CALL, "no call"),
        (Answer("<|DSML|invoke"), CALL, "markup"),
        (Answer("it is blue"), ANSWER, ""),
        (Answer("it is red"), ANSWER, "lacks 'blue'"),
        (Answer("<|DSML| blue"), ANSWER, "markup"),
        (Answer("anything"), {}, ""),
    ],
)
def test_an_answer_is_held_against_what_was_due(
    answer: Answer, due: dict[str, Any], said: str
) -> None:
    found = what_is_wrong(answer, due, MARKUP)

    assert (said in found) if said else (found == "")


def answer_from(response: httpx.Response) -> Answer:
    async def asked() -> Answer:
        transport = httpx.MockTransport(lambda request: response)
        async with httpx.AsyncClient(transport=transport) as client:
            return await ask(client, "http://stack", b"{}", limit_s=60)

    return asyncio.run(asked())


def streamed(*events: str) -> httpx.Response:
    text = "".join(f"data: {event}\n\n" for event in events)
    return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})


def delta(finish: str | None = None, **fields: Any) -> str:
    return json.dumps({"choices": [{"delta": fields, "finish_reason": finish}]})


def piece(**function: str) -> dict[str, Any]:
    return {"index": 0, "function": function}


def test_a_streamed_call_is_put_together_from_its_pieces() -> None:
    answer = answer_from(
        streamed(
            delta(tool_calls=[piece(name="send_letter", arguments='{"to"')]),
            delta(tool_calls=[piece(arguments=': "Ann"}')]),
            delta(finish="tool_calls"),
            "[DONE]",
        )
    )

    assert answer.error == ""
    assert what_is_wrong(answer, CALL, MARKUP) == ""


def test_an_answer_that_comes_whole_is_read_too() -> None:
    message = {"content": None, "tool_calls": [piece(name="send_letter", arguments="{}")]}

    answer = answer_from(httpx.Response(200, json={"choices": [{"message": message}]}))

    assert answer.calls == {0: {"name": "send_letter", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (httpx.Response(503, text="busy"), "HTTP 503: busy"),
        (streamed(delta(content="half")), "cut off"),
        (streamed('{"error": {"message": "aborted"}}'), "error in the stream"),
        (streamed("{"), "JSONDecodeError"),
        (streamed('["no event"]'), "AttributeError"),
        (httpx.Response(200, json={"choices": []}), "IndexError"),
        (httpx.Response(200, text="<html>"), "JSONDecodeError"),
    ],
)
def test_what_a_server_does_wrong_is_silence_and_no_end(
    response: httpx.Response, said: str
) -> None:
    assert said in answer_from(response).error


def test_a_session_takes_its_worst_answer_and_silence_hides_no_corruption() -> None:
    assert worst({"a": "right", "b": "wrong", "c": "silent"}) == "wrong"
    assert worst({"a": "right", "c": "silent"}) == "silent"
    assert worst({"a": "right"}) == "right"


def test_the_interval_is_wilsons() -> None:
    """12 of 80: the limits of statsmodels' proportion_confint(12, 80, method="wilson")."""
    low, high = wilson(12, 80)

    assert (round(low, 4), round(high, 4)) == (0.0879, 0.2441)
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_rate_is_of_those_that_were_answered_and_names_the_silent() -> None:
    line = rate_line("all sessions", ["wrong"] * 12 + ["right"] * 68 + ["silent"] * 3)

    assert line == "all sessions: 12 of 80 that were answered (8.8 to 24.4 %), 3 silent"


@pytest.mark.parametrize(
    ("outcomes", "status", "said"),
    [
        (["right", "wrong"], 0, "it came back (exit status 0)"),
        (["right", "right"], 1, "it did not come back (exit status 1)"),
        (["silent", "silent"], 3, "too little was answered"),
    ],
)
def test_the_exit_status_says_whether_it_came_back_and_so_does_the_last_line(
    outcomes: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    load = {"focus": {"session": "s-1", "request": "r0"}, "seen": "run r-1"}
    played = [{f"s-{n}": {"r0": outcome} for n, outcome in enumerate(outcomes, start=1)}]

    assert report(played, load) == status
    assert said in capsys.readouterr().out.splitlines()[-1]


def test_the_help_says_what_the_exit_statuses_mean() -> None:
    helped = script("--help")

    assert helped.returncode == 0
    assert "Exit status: 0 if something was wrong again, 1 if nothing was" in one_line(
        helped.stdout
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:9", "--api-key-env", "NOT_SET"], "the environment has no NOT_SET"),
        (["http://127.0.0.1:9"], "load.json"),
        (["gpu-7:30000"], "http://HOST:PORT"),
        (["http://gpu:port"], "http://HOST:PORT"),
    ],
)
def test_what_cannot_be_played_is_told_apart_from_what_did_not_come_back(
    arguments: list[str], said: str
) -> None:
    ended = script(*arguments)

    assert ended.returncode == 2
    assert said in ended.stderr and "Traceback" not in ended.stderr


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, replay_script.__file__, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def one_line(text: str) -> str:
    return " ".join(text.split())


def flush_against(*answers: httpx.Response) -> tuple[str, int]:
    """What is said, and how often it was asked."""
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        return left.pop(0) if len(left) > 1 else left[0]

    async def asked() -> str:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            return await empty_caches(client, "http://stack/flush_cache", wait_s=0)

    return asyncio.run(asked()), len(answers) - len(left) + 1


def test_caches_are_asked_for_until_they_are_empty() -> None:
    refused = httpx.Response(400, text="pending requests")

    assert flush_against(refused, refused, httpx.Response(200)) == ("", 3)
    assert flush_against(httpx.Response(200, text='{"success":false}'))[0].startswith("HTTP 200")
    assert flush_against(refused)[0] == "HTTP 400: pending requests"


def test_a_body_stays_as_recorded_but_for_the_requests_own_name() -> None:
    body = b'{"rid":"r1-s0-t0",  "model":"m"}'

    assert renamed(body, None, 2) == body
    assert renamed(b'{"model":"m"}', "rid", 2) == b'{"model":"m"}'
    assert json.loads(renamed(body, "rid", 2)) == {"rid": "r1-s0-t0-replay-2", "model": "m"}
