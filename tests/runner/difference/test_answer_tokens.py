"""The tokens of a recorded answer."""

import json

from runner.difference.answer_tokens import answer_tokens


def piece(*tokens: str) -> dict[str, object]:
    content = [{"token": token, "logprob": -0.1} for token in tokens]
    return {"choices": [{"index": 0, "delta": {}, "logprobs": {"content": content}}]}


def test_tokens_of_a_stream_are_read_in_order() -> None:
    events = [f"data: {json.dumps(each)}\n\n" for each in (piece("the"), piece(" s", "ky"))]

    assert answer_tokens(("".join(events) + "data: [DONE]\n\n").encode()) == ["the", " s", "ky"]


def test_tokens_of_a_whole_answer_are_read() -> None:
    assert answer_tokens(json.dumps(piece("a", "b")).encode()) == ["a", "b"]


def test_an_answer_without_them_has_none() -> None:
    for response in (b"", b"data: {}\n\n", b"data: {cut", b"[1]", b'{"choices": [3]}', b"\xff"):
        assert answer_tokens(response) is None


def test_an_answer_nested_too_deep_to_be_read_has_none() -> None:
    assert answer_tokens(b"[" * 100_000) is None
