"""A server that streams prepared chunks, so that a client's speed is all that is measured.

`python -m tests.bench.stub_server CHUNKS PACE_MS SPREAD` prints its port. It writes one chunk to
every open stream each PACE_MS; with 0 it writes whole answers at once. Answers have CHUNKS chunks,
or with a SPREAD of 0.5 from half to one and a half times as many, so that they end one by one, as
those of an engine do.
"""

import asyncio
import json
import random
import sys
from collections.abc import Iterator

from runner.sessions.word_list import read_word_list

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
MODEL_LIST = b'{"object":"list","data":[{"id":"stub","object":"model"}]}'
MODELS = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(MODEL_LIST),
    MODEL_LIST,
)


def framed(data: str) -> bytes:
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(event), event)


def token_chunk(text: str | None = " word", finish_reason: str | None = None) -> str:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return json.dumps(
        {
            "id": "chatcmpl-0123456789abcdef0123456789abcdef",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": "stub",
            "choices": [choice],
        }
    )


class Stream(asyncio.Protocol):
    """One connection; `left` counts the chunks that its open answer still has."""

    open_streams: "set[Stream]"
    lengths: Iterator[int]
    pace_s: float

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""
        self._left = 0

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < _content_length(head):
            return
        self._received = b""
        if head.startswith(b"GET"):  # a peer looks whether somebody is there
            self._transport.write(MODELS)
            return
        self._left = next(self.lengths)
        self._transport.write(HEAD)
        if self.pace_s:
            self.open_streams.add(self)
        else:
            self._transport.write(b"".join(TOKENS[: self._left]) + DONE + END)

    def connection_lost(self, error: Exception | None) -> None:
        self.open_streams.discard(self)

    def step(self) -> None:
        self._left -= 1
        if self._left >= 0:
            self._transport.write(TOKENS[self._left % len(TOKENS)])
        else:
            self._transport.write(DONE + END)
            self.open_streams.discard(self)


WORDS = read_word_list()
TOKENS = [
    framed(token_chunk(f" {word}"))
    for word in random.Random(1).choices((*WORDS.fillers, *WORDS.verbs, *WORDS.nouns), k=1000)
]
DONE = framed(token_chunk(None, "stop")) + framed("[DONE]")


def answer_lengths(chunks: int, spread: float) -> Iterator[int]:
    """In the order in which the requests come, the same in every run."""
    draw = random.Random(2)
    while True:
        yield round(chunks * (1 + spread * draw.uniform(-1, 1)))


def _content_length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    lengths = (line.split(b":")[1] for line in lines if line.startswith(b"content-length:"))
    return int(next(lengths, b"0"))


async def serve(lengths: Iterator[int], pace_s: float) -> None:
    Stream.open_streams, Stream.lengths, Stream.pace_s = set(), lengths, pace_s
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Stream, "127.0.0.1", 0, backlog=4096)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    next_tick = loop.time()
    while True:
        next_tick += pace_s or 1.0
        await asyncio.sleep(max(0.0, next_tick - loop.time()))
        for stream in list(Stream.open_streams):
            stream.step()


if __name__ == "__main__":
    lengths = answer_lengths(int(sys.argv[1]), float(sys.argv[3]))
    asyncio.run(serve(lengths, float(sys.argv[2]) / 1000))
