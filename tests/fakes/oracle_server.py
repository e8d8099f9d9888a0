"""A chat server that knows the right answers of a tool-dialogue, until told to misbehave.

Started as `python -m tests.fakes.oracle_server --port N [switches]`, so that the runner is tried
against a real process. It has SGLang's control pages, and no model.
"""

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

LEAK = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="'
_ERRAND = re.compile(r"please (\w+) with (.*)\.$")


@dataclass
class Oracle:
    """`leak_every`: each n-th call comes as raw markup. `die_after`: chats until it is gone.

    `log_line` is written at every chat that offers tools. `hang_after` chats none is answered any
    more, for `hang_for_s` seconds or, where that is 0, for ever; `/health` answers all the same.
    `tells_headers`: it repeats the key that it was sent wherever it can.
    `says_index_k_dtype`: what `/server_info` claims, if that is not so.
    """

    index_k_dtype: str
    leak_every: int
    die_after: int
    refuse_flush: bool
    answer_delay_s: float
    log_line: str
    hang_after: int = 0
    hang_for_s: float = 0.0
    says_index_k_dtype: str = ""
    tells_headers: bool = False
    authorization: str = ""
    tokens: int = 0
    hangs_until_s: float | None = None
    chats: int = 0
    calls: int = 0
    host_tokens: int = 0
    in_flight: int = 0

    async def chat(self, request: Request) -> Response:
        body = await request.json()
        self.authorization = request.headers.get("authorization", self.authorization)
        self.chats += 1
        if self.tells_headers:
            sys.stderr.write(f"chat with {self.authorization}\n")
            if self.chats % 7 == 0:
                return JSONResponse({"error": f"no access for {self.authorization}"}, 401)
        if self.die_after and self.chats > self.die_after:
            os._exit(9)
        self.host_tokens += 64
        if self.log_line and body.get("tools"):
            sys.stderr.write(f"{self.log_line}\n")
        delta, finish = self._reply(body)
        if self.hang_after and self.chats > self.hang_after:
            await self._hang()
        if not body.get("stream"):
            self.tokens += 1
            return JSONResponse(_whole(delta, finish))
        return StreamingResponse(self._stream(delta, finish), media_type="text/event-stream")

    async def _hang(self) -> None:
        now_s = asyncio.get_running_loop().time()
        if self.hangs_until_s is None:
            self.hangs_until_s = now_s + (self.hang_for_s or 86_400)
        self.in_flight += 1
        try:
            await asyncio.sleep(max(0.0, self.hangs_until_s - now_s))
        finally:
            self.in_flight -= 1

    def _reply(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        last = body["messages"][-1]
        errand = _ERRAND.search(str(last.get("content")))
        if last["role"] == "tool":
            told = f" ({self.authorization})" if self.tells_headers else ""
            return {"content": f"Done: {last['content']}{told}"}, "stop"
        if errand is None or not body.get("tools"):
            told = f" to {self.authorization}" if self.tells_headers else ""
            return {"content": f"hello{told}"}, "stop"
        self.calls += 1
        if self.leak_every and self.calls % self.leak_every == 0:
            return {"content": LEAK}, "stop"
        return {"tool_calls": [_call(body["tools"], errand)]}, "tool_calls"

    async def _stream(self, delta: dict[str, Any], finish: str) -> AsyncIterator[str]:
        self.in_flight += 1
        try:
            await asyncio.sleep(self.answer_delay_s)
            yield _chunk({"role": "assistant", "content": ""}, None)
            self.tokens += 1
            yield _chunk(delta, None)
            yield _chunk({}, finish)
            yield "data: [DONE]\n\n"
        finally:
            self.in_flight -= 1

    async def server_info(self, request: Request) -> Response:
        width = {"fp8": 132, "bf16": 256}[self.index_k_dtype]
        state = {
            "index_k_dtype": self.says_index_k_dtype or self.index_k_dtype,
            "memory_usage": {"index_key_bytes_per_token": width},
        }
        version = os.environ.get("ORACLE_VERSION", "oracle")
        report = {"version": version, "internal_states": [state], "api_key": "s3cret"}
        if self.tells_headers:
            report["started_by"] = self.authorization
        return JSONResponse(report)

    async def flush_cache(self, request: Request) -> Response:
        if self.refuse_flush or self.in_flight:
            return PlainTextResponse("Cache not flushed because there are pending requests.", 400)
        return PlainTextResponse("Cache flushed.")

    async def metrics(self, request: Request) -> Response:
        return PlainTextResponse(
            "# TYPE sglang:num_running_reqs gauge\n"
            f'sglang:num_running_reqs{{engine_type="unified"}} {self.in_flight}\n'
            "# TYPE sglang:realtime_tokens_total counter\n"
            f'sglang:realtime_tokens_total{{mode="decode"}} {self.tokens}\n'
            "# TYPE sglang:num_requests_total counter\n"
            f'sglang:num_requests_total{{is_streaming="True"}} {self.chats}\n'
            "# TYPE sglang:cached_tokens_total counter\n"
            f'sglang:cached_tokens_total{{cache_source="host"}} {self.host_tokens}\n'
            f'oracle:told{{key="{self.authorization if self.tells_headers else ""}"}} 1\n'
        )

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/models", _models),
                Route("/health", _health),
                Route("/server_info", self.server_info),
                Route("/flush_cache", self.flush_cache, methods=["POST"]),
                Route("/metrics", self.metrics),
            ]
        )


async def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "oracle", "object": "model"}]})


async def _health(request: Request) -> Response:
    return PlainTextResponse("ok")


def _call(tools: list[dict[str, Any]], errand: re.Match[str]) -> dict[str, Any]:
    keyword, wishes = errand.groups()
    function = next(
        tool["function"]
        for tool in tools
        if tool["function"]["description"] == f"Call this to {keyword}."
    )
    arguments = dict(wish.split(" = ") for wish in wishes.split("; "))
    return {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": function["name"], "arguments": json.dumps(arguments)},
    }


def _chunk(delta: dict[str, Any], finish: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


def _whole(delta: dict[str, Any], finish: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": None, **delta}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"object": "chat.completion", "choices": [choice]}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--index-k-dtype", default="fp8")
    parser.add_argument("--says-index-k-dtype", default="")
    parser.add_argument("--tells-headers", action="store_true")
    parser.add_argument("--leak-every", type=int, default=0)
    parser.add_argument("--die-after", type=int, default=0)
    parser.add_argument("--refuse-flush", action="store_true")
    parser.add_argument("--answer-delay-s", type=float, default=0.0)
    parser.add_argument("--log-line", default="")
    parser.add_argument("--hang-after", type=int, default=0)
    parser.add_argument("--hang-for-s", type=float, default=0.0)
    chosen = parser.parse_args(arguments)
    oracle = Oracle(
        index_k_dtype=chosen.index_k_dtype,
        leak_every=chosen.leak_every,
        die_after=chosen.die_after,
        refuse_flush=chosen.refuse_flush,
        answer_delay_s=chosen.answer_delay_s,
        log_line=chosen.log_line,
        hang_after=chosen.hang_after,
        hang_for_s=chosen.hang_for_s,
        says_index_k_dtype=chosen.says_index_k_dtype,
        tells_headers=chosen.tells_headers,
    )
    width = {"fp8": 132, "bf16": 256}[chosen.index_k_dtype]
    sys.stderr.write(f"index key pool: {chosen.index_k_dtype}, {width} bytes a token\n")
    uvicorn.run(oracle.app(), host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1:])
