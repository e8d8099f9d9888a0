"""Which fields a request has, and which of two that say the same."""

from typing import Any

import pytest

from runner.judge.json_values import Json
from runner.sessions.chat_request import ChatRequest


def body_with(extra: dict[str, Json], of_step: dict[str, Json] | None = None) -> Any:
    request = ChatRequest(model="m", max_tokens=9, extra=extra)
    return request.body([], [], request_id="r-1", of_step=of_step or {})


def test_a_request_has_a_limit_and_is_greedy_unless_something_else_is_said() -> None:
    body = body_with({"temperature": 0.7})

    assert (body["max_tokens"], body["temperature"]) == (9, 0.7)
    assert body_with({})["temperature"] == 0


@pytest.mark.parametrize("is_of_step", [True, False])
def test_a_limit_by_its_later_name_is_not_sent_beside_ours(is_of_step: bool) -> None:
    fields: dict[str, Json] = {"max_completion_tokens": 50}

    body = body_with({}, fields) if is_of_step else body_with(fields)

    assert body["max_completion_tokens"] == 50
    assert "max_tokens" not in body


def test_null_leaves_the_temperature_to_the_server() -> None:
    assert "temperature" not in body_with({"temperature": None})
    assert body_with({"temperature": 0.5}, {"temperature": None})["temperature"] == 0.5


def test_other_fields_are_sent_as_they_stand() -> None:
    assert body_with({}, {"stop": None})["stop"] is None


def test_one_token_stands_over_a_limit_of_any_name() -> None:
    one: dict[str, Json] = {"max_tokens": 1, "max_completion_tokens": None}

    body = body_with(one, {"max_completion_tokens": 50})

    assert body["max_tokens"] == 1
    assert "max_completion_tokens" not in body
