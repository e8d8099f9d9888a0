"""Whether a request that somebody else wrote can be sent and judged at all, asked before a run."""

from collections.abc import Mapping, Sequence
from typing import Final

from runner.judge.json_values import Json, JsonObject
from runner.judge.record import Due, DueCall, due_to_json
from runner.sessions.chat_request import ChatRequest
from runner.sessions.request_context import turn_context
from runner.sessions.streaming_client import encode_body

_ANY_REQUEST: Final = ChatRequest(model="any", max_tokens=1)
_LEGACY_TOOLS: Final = "functions"  # before there were `tools`


def check_request(
    messages: Sequence[JsonObject],
    tools: Sequence[JsonObject],
    *,
    fields: Mapping[str, Json],
    due: Due | None,
) -> None:
    """Makes it as it will be sent and reads it as its answer will be judged.

    Raises ValueError with what is wrong.
    """
    try:
        body = _ANY_REQUEST.body(messages, tools, request_id="any", of_step=fields)
        encode_body(body)
        encode_body(due_to_json(due))
        context = turn_context(body, due=due, round_index=0, max_rounds=None)
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair, which no server can be sent") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except (ValueError, TypeError) as error:
        raise ValueError(str(error)) from None
    if isinstance(due, DueCall) and _LEGACY_TOOLS not in body:
        names = [tool.name for tool in context.tools]
        if due.name not in names:
            offered = f"offers only {', '.join(names)}" if names else "offers no tools"
            raise ValueError(f"a call of {due.name} is due, and the request {offered}")
