"""The request that a dialogue begins with, as a session would send it."""

from runner.judge.json_values import JsonObject
from runner.sessions.chat_request import ChatRequest, system_message
from runner.sessions.dialogue import Dialogue


def first_request(dialogue: Dialogue, request: ChatRequest, *, request_id: str) -> JsonObject:
    """The body; a session that plays this dialogue sends the same messages and tools first."""
    step = dialogue.rounds[0].steps[0]
    opening = [system_message(dialogue.system)] if dialogue.system else []
    return request.body(
        [*opening, *step.say] if step.recorded is None else step.recorded,
        dialogue.tools if step.tools is None else step.tools,
        request_id=request_id,
        of_step=step.request,
    )
