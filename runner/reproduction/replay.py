"""Sends recorded chat requests again as they were sent, many at a time, and counts what is wrong.

It needs Python 3.11 and httpx, and nothing else. `load.json` beside it names the sessions that were
in flight, when each began, the body of every request and what was due as an answer.

    python replay.py http://HOST:PORT --times 5
    python replay.py https://HOST --api-key-env MY_KEY      # the key itself is read from there

Exit status: 0 if something was wrong again, 1 if nothing was, 2 if it could not be played, 3 if too
little was answered to say.
"""

import argparse
import asyncio
import json
import math
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

FOLDER = Path(__file__).resolve().parent
RIGHT, WRONG, SILENT = "right", "wrong", "silent"
JSON_HEADERS = {"content-type": "application/json"}
FLUSH_TRIES = 20
Z_95 = 1.959963984540054


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass
class Answer:
    """What one streamed or whole answer came to: its text, its calls, or why there is none."""

    content: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    error: str = ""

    def add_message(self, message: dict[str, Any]) -> None:
        """A delta of a stream, or the message of an answer that came whole."""
        self.content += message.get("content") or ""
        for position, call in enumerate(message.get("tool_calls") or []):
            parts = self.calls.setdefault(
                call.get("index", position), {"name": "", "arguments": ""}
            )
            function = call.get("function") or {}
            parts["name"] += function.get("name") or ""
            parts["arguments"] += function.get("arguments") or ""


async def ask(client: httpx.AsyncClient, url: str, body: bytes, *, limit_s: float) -> Answer:
    """The answer, or an answer with `error`; never raises for what a server or a network does."""
    answer = Answer()
    address = f"{url}/v1/chat/completions"
    try:
        async with (
            asyncio.timeout(limit_s),
            client.stream("POST", address, content=body, headers=JSON_HEADERS) as response,
        ):
            if response.status_code != httpx.codes.OK:
                await response.aread()
                answer.error = f"HTTP {response.status_code}: {response.text[:200]}"
            elif "event-stream" in response.headers.get("content-type", ""):
                await read_stream(response, answer)
            else:
                await response.aread()
                answer.add_message(response.json()["choices"][0]["message"])
    except TimeoutError:
        answer.error = f"no end within {limit_s:g} s"
    except (httpx.HTTPError, ValueError, LookupError, TypeError, AttributeError) as error:
        answer.error = f"{type(error).__name__}: {error}"
    return answer


async def read_stream(response: httpx.Response, answer: Answer) -> None:
    """Server-sent events; one that holds an error ends the answer."""
    is_ended = False
    async for line in response.aiter_lines():
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or not data:
            continue
        if data == "[DONE]":
            is_ended = True
            break
        event = json.loads(data)
        if event.get("error"):
            answer.error = f"an error in the stream: {str(event['error'])[:200]}"
            return
        for choice in event.get("choices") or []:
            answer.add_message(choice.get("delta") or {})
            is_ended = is_ended or bool(choice.get("finish_reason"))
    if not is_ended:
        answer.error = "the stream was cut off"


def what_is_wrong(answer: Answer, due: dict[str, Any], markup: list[str]) -> str:
    """Empty if the answer is what was due. Markup that leaks into the text is always wrong."""
    for pattern in markup:
        if leaked := re.search(pattern, answer.content):
            return f"markup in the text: {leaked[0][:80]!r}"
    if due.get("kind") == "call":
        return what_is_wrong_with_calls(list(answer.calls.values()), due)
    if due.get("kind") == "answer":
        missing = [text for text in due["must_contain"] if text not in answer.content]
        return f"the answer lacks {missing[0]!r}" if missing else ""
    return ""


def what_is_wrong_with_calls(calls: list[dict[str, str]], due: dict[str, Any]) -> str:
    if not calls:
        return f"no call, where {due['name']} was due"
    call = next((each for each in calls if each["name"] == due["name"]), None)
    if call is None:
        return f"a call of {calls[0]['name']!r}, where {due['name']} was due"
    try:
        arguments = json.loads(call["arguments"])
    except ValueError:
        return f"arguments that are no JSON: {call['arguments'][:80]!r}"
    return "" if arguments == due["arguments"] else f"other arguments: {call['arguments'][:80]}"


def renamed(body: bytes, id_field: str | None, time_no: int) -> bytes:
    """As recorded, but for the request's own name, which a server may refuse to hear twice."""
    if id_field is None:
        return body
    fields = json.loads(body)
    if id_field not in fields:
        return body
    fields[id_field] = f"{fields[id_field]}-replay-{time_no}"
    return json.dumps(fields, ensure_ascii=False).encode()


async def play_session(
    client: httpx.AsyncClient, url: str, session: dict[str, Any], load: dict[str, Any], time_no: int
) -> dict[str, str]:
    """Outcome of each request by its file. The session goes on whatever the answers are, so that
    the load stays what it was.
    """
    await asyncio.sleep(session["starts_after_s"])
    outcomes: dict[str, str] = {}
    for turn in session["turns"]:
        await asyncio.sleep(turn["pause_before_s"])
        body = renamed((FOLDER / turn["request"]).read_bytes(), load["request_id_field"], time_no)
        answer = await ask(client, url, body, limit_s=load["answer_limit_s"])
        wrong = answer.error or what_is_wrong(answer, turn["due"], load["markup"])
        outcomes[turn["request"]] = SILENT if answer.error else WRONG if wrong else RIGHT
        if wrong:
            say(f"  {session['session']} {turn['request']}: {outcomes[turn['request']]}: {wrong}")
    return outcomes


async def empty_caches(client: httpx.AsyncClient, address: str, *, wait_s: float = 0.5) -> str:
    """Empty text once they are; servers do it only while idle. Else why they are not."""
    said = ""
    for _ in range(FLUSH_TRIES):
        try:
            response = await client.post(address, timeout=10)
        except httpx.HTTPError as error:
            said = f"{type(error).__name__}: {error}"
        else:
            if response.status_code == httpx.codes.OK and '"success":false' not in response.text:
                return ""
            said = f"HTTP {response.status_code}: {response.text[:200]}"
        await asyncio.sleep(wait_s)
    return said


async def replay(url: str, headers: dict[str, str], load: dict[str, Any], times: int) -> list[Any]:
    """For each time: session to outcomes by request."""
    limits = httpx.Limits(max_connections=None)
    played = []
    async with httpx.AsyncClient(
        headers=headers, limits=limits, timeout=None, trust_env=False
    ) as client:
        for time_no in range(1, times + 1):
            if load["flush_cache"] is not None:
                refused = await empty_caches(client, url + load["flush_cache"])
                if refused:
                    say(f"the caches are not empty, which changes the rate: {refused}")
            began_s = time.monotonic()
            outcomes = await asyncio.gather(
                *(play_session(client, url, each, load, time_no) for each in load["sessions"])
            )
            by_session = {
                each["session"]: outcome
                for each, outcome in zip(load["sessions"], outcomes, strict=True)
            }
            played.append(by_session)
            said = tally(by_session.values())
            say(f"time {time_no} of {times}: {said}, {time.monotonic() - began_s:.1f} s")
    return played


def worst(outcomes: dict[str, str]) -> str:
    """A session is wrong if one of its answers is; silent if none was wrong and one is missing."""
    for outcome in (WRONG, SILENT):
        if outcome in outcomes.values():
            return outcome
    return RIGHT


def tally(sessions: Any) -> str:
    seen = [worst(outcomes) for outcomes in sessions]
    return ", ".join(f"{seen.count(name)} {name}" for name in (WRONG, RIGHT, SILENT))


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a rate by Wilson's score, as if the trials were independent."""
    if of == 0:
        return 0.0, 1.0
    rate, square = count / of, Z_95**2
    middle = (rate + square / (2 * of)) / (1 + square / of)
    half = Z_95 * math.sqrt(rate * (1 - rate) / of + square / (4 * of**2)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def rate_line(what: str, outcomes: list[str]) -> str:
    wrong, silent = outcomes.count(WRONG), outcomes.count(SILENT)
    said = len(outcomes) - silent
    low, high = wilson(wrong, said)
    of = f"{wrong} of {said} that were answered ({100 * low:.1f} to {100 * high:.1f} %)"
    return f"{what}: {of}" + (f", {silent} silent" if silent else "")


def report(played: list[Any], load: dict[str, Any]) -> int:
    """Prints both rates and what was seen when it was recorded. The exit status."""
    focus = load["focus"]
    sessions = [worst(outcomes) for by_session in played for outcomes in by_session.values()]
    turns = [by_session[focus["session"]][focus["request"]] for by_session in played]
    say("")
    say(rate_line(f"the recorded turn ({focus['request']})", turns))
    say(rate_line("all sessions", sessions))
    say(f"when it was recorded: {load['seen']}")
    status, said = verdict(sessions)
    say(f"{said} (exit status {status})")
    return status


def verdict(sessions: list[str]) -> tuple[int, str]:
    """As `Exit status` above says, and in words."""
    if WRONG in sessions:
        return 0, "it came back"
    if sessions.count(SILENT) * 2 > len(sessions):
        return 3, "too little was answered to say whether it comes back"
    return 1, "nothing was wrong this time: it did not come back"


class NotPlayable(Exception):
    """Says what of the folder or the command line is not as it has to be."""


def headers_of(api_key_env: str | None) -> dict[str, str]:
    if api_key_env is None:
        return {}
    if api_key_env not in os.environ:
        raise NotPlayable(f"the environment has no {api_key_env}")
    return {"authorization": f"Bearer {os.environ[api_key_env]}"}


def address_of(given: str) -> str:
    try:
        parsed = httpx.URL(given)
        is_one = parsed.scheme in ("http", "https") and bool(parsed.host)
    except httpx.InvalidURL:
        is_one = False
    if not is_one:
        raise NotPlayable(f"{given!r} is no address: http://HOST:PORT")
    return given.rstrip("/").removesuffix("/v1")


def recorded_load() -> dict[str, Any]:
    try:
        return dict(json.loads((FOLDER / "load.json").read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise NotPlayable(f"load.json beside the script cannot be read: {error}") from error


def main() -> int:
    first, *_, statuses = (__doc__ or "").strip().split("\n\n")
    parser = argparse.ArgumentParser(description=first, epilog=statuses)
    parser.add_argument("url", help="where the stack is: http://HOST:PORT")
    parser.add_argument("--times", type=int, default=3, help="how often all of it is played (3)")
    parser.add_argument("--api-key-env", help="the environment variable with the API key")
    parser.add_argument("--flush", help="the page that empties the caches before each time")
    given = parser.parse_args()
    if given.times < 1:
        parser.error("--times is a whole number from 1")
    try:
        headers, url, load = headers_of(given.api_key_env), address_of(given.url), recorded_load()
    except NotPlayable as error:
        parser.error(str(error))
    load["flush_cache"] = given.flush or load["flush_cache"]
    return report(asyncio.run(replay(url, headers, load, given.times)), load)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
