"""The tokens of a recorded answer, where the server sent them (`logprobs: true`); pure."""

import json
from collections.abc import Iterator
from typing import Any


def answer_tokens(response: bytes) -> list[str] | None:
    """In order, of the first choice; None where the answer does not carry them all.

    Reads a stream of server-sent events or one JSON object, by OpenAI's chat completions: what
    lies under `choices[0].logprobs.content`.
    """
    tokens: list[str] = []
    for piece in _objects(response):
        choices = piece.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        logprobs = first.get("logprobs") if isinstance(first, dict) else None
        content = logprobs.get("content") if isinstance(logprobs, dict) else None
        for entry in content if isinstance(content, list) else []:
            token = entry.get("token") if isinstance(entry, dict) else None
            if not isinstance(token, str):
                return None
            tokens.append(token)
    return tokens or None


def _objects(response: bytes) -> Iterator[dict[str, Any]]:
    text = response.decode("utf-8", "replace")
    is_stream = text.lstrip().startswith(("data:", "event:", ":"))
    pieces = (
        [line[5:] for line in text.splitlines() if line.startswith("data:")]
        if is_stream
        else [text]
    )
    for piece in pieces:
        try:
            value = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
