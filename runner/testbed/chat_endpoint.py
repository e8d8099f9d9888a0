"""`/v1/chat/completions`: from the request's bytes to the answer's, streaming and not.

It ties template, engine and answer reader together and owns a request's life on the HTTP side,
disconnects included.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from runner.testbed import log_lines
from runner.testbed.answer_reader import AnswerReader
from runner.testbed.answer_streams import AnswerStreams
from runner.testbed.chat_request import (
    BadRequestError,
    Bootstrap,
    ChatRequest,
    read_chat_request,
)
from runner.testbed.chat_response import (
    DONE_EVENT,
    AnswerEnvelope,
    Usage,
    cached_tokens_extension,
    call_deltas,
    error_body,
    sse_event,
    whole_message,
)
from runner.testbed.chat_template import ChatTemplate
from runner.testbed.detokenizer_states import DetokenizerStates
from runner.testbed.generation import FinishReason, GenerationEvent, GenerationRequest
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.metrics import Registry
from runner.testbed.sse_response import DeferredResponse, SseResponse
from runner.testbed.tool_parser import ParsedCall
from runner.testbed.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Times of the process: `monotonic` for durations, `wall` for the `created` field."""

    monotonic: Callable[[], float]
    wall: Callable[[], float]


@dataclass(frozen=True, slots=True)
class EngineDoor:
    """How a request reaches the engine and leaves it early. `submit` may raise BadRequestError."""

    submit: Callable[[GenerationRequest, Bootstrap | None], Awaitable[None]]
    abort: Callable[[str], None]


@dataclass(slots=True)
class OpenAnswer:
    """One request between its arrival and its last byte."""

    chat: ChatRequest
    prompt: tuple[int, ...]
    envelope: AnswerEnvelope
    reader: AnswerReader
    started_s: float

    @property
    def rid(self) -> str:
        return self.envelope.rid

    def extras(self) -> dict[str, Any]:
        """What the answer carries beside its choices, as far as it was asked for."""
        extras: dict[str, Any] = {}
        if self.chat.include_usage or not self.chat.stream:
            usage = Usage(len(self.prompt), self.reader.completion_tokens, self.reader.cached)
            extras["usage"] = usage.to_json()
        if self.chat.cached_tokens_details:
            extras |= cached_tokens_extension(self.reader.cached)
        return extras


class ChatEndpoint:
    def __init__(
        self,
        options: LaunchOptions,
        vocabulary: Vocabulary,
        template: ChatTemplate,
        *,
        door: EngineDoor,
        streams: AnswerStreams,
        registry: Registry,
        stopwatch: Stopwatch,
        new_id: Callable[[], str],
        log: Callable[[str], None],
    ) -> None:
        self._options = options
        self._detokenizers = DetokenizerStates(vocabulary, options.detokenizer_max_states)
        self._template = template
        self._door = door
        self._streams = streams
        self._registry = registry
        self._stopwatch = stopwatch
        self._new_id = new_id
        self._log = log

    async def __call__(self, request: Request) -> Response:
        try:
            answer = await self._open(read_chat_request(await request.body()))
        except BadRequestError as error:
            body = error_body(str(error), code=400, param=error.param)
            return JSONResponse(body, status_code=400)

        def on_disconnect() -> None:
            self._log(log_lines.client_disconnected(answer.rid, stream=answer.chat.stream))
            self._door.abort(answer.rid)
            self._streams.close(answer.rid)
            answer.reader.close()

        if answer.chat.stream:
            return SseResponse(self._stream(answer), on_disconnect)
        return DeferredResponse(self._collect(answer), on_disconnect)

    async def _open(self, chat: ChatRequest) -> OpenAnswer:
        """Hand the request to the engine. Raises BadRequestError."""
        prompt = self._template.prompt(chat)
        limit = self._options.context_length
        if len(prompt) >= limit:
            raise BadRequestError(
                f"The prompt has {len(prompt)} tokens and leaves no room for an answer: "
                f"the context length is {limit} tokens.",
                "messages",
            )
        rid = chat.rid or self._new_id()
        if self._streams.is_open(rid):
            raise BadRequestError(f"A request with rid {rid!r} is being answered already.", "rid")
        self._streams.open(rid)
        generation = GenerationRequest(
            rid,
            prompt,
            chat.max_tokens or limit,
            self._template.forced_answer(chat),
            chat.stream,
            None if chat.bootstrap is None else chat.bootstrap.room,
        )
        started_s = self._stopwatch.monotonic()
        try:
            await self._door.submit(generation, chat.bootstrap)
        except BadRequestError:
            self._streams.close(rid)
            raise
        envelope = AnswerEnvelope(
            rid, chat.model or self._options.served_model_name, int(self._stopwatch.wall())
        )
        reader = AnswerReader(rid, chat, self._detokenizers, self._options.parsing())
        return OpenAnswer(chat, prompt, envelope, reader, started_s)

    async def _stream(self, answer: OpenAnswer) -> AsyncIterator[bytes]:
        envelope, reader, n_calls = answer.envelope, answer.reader, 0
        async for event in self._events(answer):
            if event.error is not None:
                yield sse_event(error_body(event.error, code=500))
                yield DONE_EVENT
                return
            if reader.completion_tokens == 0:
                yield envelope.delta({"role": "assistant", "content": ""})
            for output in reader.read(event):
                if isinstance(output, ParsedCall):
                    for delta in call_deltas(output, n_calls, f"call_{self._new_id()}"):
                        yield envelope.delta(delta)
                    n_calls += 1
                else:
                    yield envelope.delta({"content": output})
        yield envelope.delta({}, reader.finish_reason)
        extras = answer.extras()
        if extras:
            yield envelope.closing(extras)
        yield DONE_EVENT

    async def _collect(self, answer: OpenAnswer) -> Response:
        text, calls = "", list[ParsedCall]()
        async for event in self._events(answer):
            if event.error is not None:
                return JSONResponse(error_body(event.error, code=500), status_code=500)
            for output in answer.reader.read(event):
                if isinstance(output, ParsedCall):
                    calls.append(output)
                else:
                    text += output
        message = whole_message(text, calls, [f"call_{self._new_id()}" for _ in calls])
        finish_reason = answer.reader.finish_reason
        return JSONResponse(answer.envelope.whole(message, finish_reason, answer.extras()))

    async def _events(self, answer: OpenAnswer) -> AsyncIterator[GenerationEvent]:
        """The engine's events of this answer; its latencies are measured on the way."""
        labels = {"is_streaming": str(answer.chat.stream)}
        observe, now_s = self._registry.observe, self._stopwatch.monotonic
        last_token_s: float | None = None
        async for event in self._streams.events(answer.rid):
            at_s = now_s()
            if event.token is not None:
                if last_token_s is None:
                    observe("time_to_first_token_seconds", at_s - answer.started_s, **labels)
                else:
                    observe("inter_token_latency_seconds", at_s - last_token_s)
                last_token_s = at_s
            if event.finish in (FinishReason.STOP, FinishReason.LENGTH):
                observe("e2e_request_latency_seconds", at_s - answer.started_s, **labels)
            if event.finish is not None:
                self._streams.close(answer.rid)
            yield event
