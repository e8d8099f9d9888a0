"""Turns the tokens of one answer into text and calls, and keeps count of it.

It knows the detokenizer and the tool parser; the wire format is made of its outputs elsewhere.
"""

from __future__ import annotations

from runner.testbed import vocabulary as v
from runner.testbed.answer_parsing import Parsing, make_parser
from runner.testbed.chat_request import ChatRequest
from runner.testbed.detokenizer_states import DetokenizerStates
from runner.testbed.generation import CachedTokens, FinishReason, GenerationEvent
from runner.testbed.tool_parser import ParsedCall, ParserOutput


class AnswerReader:
    """Read every event in order; afterwards `finish_reason` and the counts are final.

    `close` when the answer ends before its last event.
    """

    def __init__(
        self, rid: str, request: ChatRequest, states: DetokenizerStates, parsing: Parsing
    ) -> None:
        self._rid = rid
        self._states = states
        self._parser = make_parser(parsing, request) if request.may_call else None
        self._finish: FinishReason | None = None
        self._n_calls = 0
        self.completion_tokens = 0
        self.cached = CachedTokens()

    @property
    def finish_reason(self) -> str:
        """OpenAI's: `tool_calls` as soon as one call was accepted."""
        if self._n_calls and self._finish is FinishReason.STOP:
            return "tool_calls"
        return str(self._finish or FinishReason.STOP)

    def read(self, event: GenerationEvent) -> list[ParserOutput]:
        outputs: list[ParserOutput] = []
        if event.token is not None:
            self.completion_tokens += 1
            self.cached = event.cached
            outputs += self._read_token(event.token)
        if event.finish is not None:
            self._finish = event.finish
            self.close()
            outputs += self._parser.finish() if self._parser else []
        self._n_calls += sum(isinstance(output, ParsedCall) for output in outputs)
        return outputs

    def close(self) -> None:
        self._states.drop(self._rid)

    def _read_token(self, token: int) -> list[ParserOutput]:
        if token == v.EOS:
            return []
        text = self._states.piece(self._rid, token)
        return self._parser.feed(text) if self._parser else [text]
