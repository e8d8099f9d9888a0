"""Writes a dialogue of the model's grammar as the OpenAI chat that a client would send."""

from __future__ import annotations

import json
from typing import Any

from runner.testbed import scripted_dialogues
from runner.testbed import vocabulary as v
from runner.testbed.detokenizer import decode
from runner.testbed.grammar import Dialogue, Round, Tool, user_tokens

VOCABULARY = v.load_vocabulary()


def draw_dialogues(count: int, *, seed: int, rounds: int = 4) -> list[Dialogue]:
    return scripted_dialogues.draw_dialogues(VOCABULARY, count, seed=seed, rounds=rounds)


def words(tokens: tuple[int, ...]) -> str:
    return " ".join(VOCABULARY.pieces[token] for token in tokens)


def tool_name(tool: Tool) -> str:
    return "_".join(VOCABULARY.pieces[token] for token in tool.name)


def arguments(step: Round) -> dict[str, str]:
    names = [VOCABULARY.pieces[parameter.name] for parameter in step.call.tool.parameters]
    return dict(zip(names, map(words, step.call.values), strict=True))


def answer(step: Round) -> str:
    return f"Done: {words(step.result)}"


def user_text(step: Round) -> str:
    return decode(VOCABULARY, user_tokens(step)[1:])


def tool_definition(tool: Tool) -> dict[str, Any]:
    names = [VOCABULARY.pieces[parameter.name] for parameter in tool.parameters]
    types = ["string" if parameter.is_string else "number" for parameter in tool.parameters]
    return {
        "type": "function",
        "function": {
            "name": tool_name(tool),
            "description": f"Call this to {VOCABULARY.pieces[tool.keyword]}.",
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": kind} for name, kind in zip(names, types, strict=True)
                },
                "required": names,
            },
        },
    }


def call_message(step: Round) -> dict[str, Any]:
    function = {"name": tool_name(step.call.tool), "arguments": json.dumps(arguments(step))}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def system_message(dialogue: Dialogue) -> dict[str, Any]:
    text = f"{words(dialogue.fillers_before)}\n\n{words(dialogue.fillers_after)}"
    return {"role": "system", "content": text}


def first_request(dialogue: Dialogue, **extra: object) -> dict[str, Any]:
    """The body of a dialogue's first request."""
    user = {"role": "user", "content": user_text(dialogue.rounds[0])}
    return {
        "model": "tiny-dsml",
        "messages": [system_message(dialogue), user],
        "tools": [tool_definition(tool) for tool in dialogue.tools],
        **extra,
    }


def after_call(dialogue: Dialogue) -> dict[str, Any]:
    """The second request of a dialogue: the tool has answered."""
    step = dialogue.rounds[0]
    body = first_request(dialogue)
    result = {"role": "tool", "tool_call_id": "call_1", "content": words(step.result)}
    body["messages"] += [call_message(step), result]
    return body


def whole_chat(dialogue: Dialogue) -> dict[str, Any]:
    """The body of the request that would follow a dialogue's last answer."""
    messages = [system_message(dialogue)]
    for step in dialogue.rounds:
        messages += [
            {"role": "user", "content": user_text(step)},
            call_message(step),
            {"role": "tool", "tool_call_id": "call_1", "content": words(step.result)},
            {"role": "assistant", "content": answer(step)},
        ]
    return {
        "messages": messages,
        "tools": [tool_definition(tool) for tool in dialogue.tools],
    }
