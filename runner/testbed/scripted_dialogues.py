"""Dialogues as a chat client would hold them: V4's dialect, string parameters, a sized prompt."""

from __future__ import annotations

import random
from dataclasses import replace

from runner.testbed.grammar import Dialogue, DialogueShape, DialogueSource, segments
from runner.testbed.vocabulary import Vocabulary

_FILLERS_BEFORE_THE_TOOLS = 0.4


def draw_dialogues(
    vocabulary: Vocabulary,
    count: int,
    *,
    seed: int | str,
    rounds: int = 4,
    first_prompt: int | None = None,
) -> list[Dialogue]:
    """`first_prompt`: tokens of the first request, made up by fillers; None: as it comes."""
    shape = DialogueShape(rounds=rounds, string_share=1.0)
    source = DialogueSource(vocabulary, random.Random(seed), shape)
    dialogues = [source.draw() for _ in range(count)]
    if first_prompt is None:
        return dialogues
    return [_sized(dialogue, first_prompt, source) for dialogue in dialogues]


def _sized(dialogue: Dialogue, n_tokens: int, source: DialogueSource) -> Dialogue:
    bare = replace(dialogue, fillers_before=(), fillers_after=())
    system, user, *_ = segments(bare)
    needed = max(0, n_tokens - len(system.tokens) - len(user.tokens))
    fillers = tuple(source.rng.choices(source.vocabulary.filler_ids, k=needed))
    split = round(needed * _FILLERS_BEFORE_THE_TOOLS)
    return replace(dialogue, fillers_before=fillers[:split], fillers_after=fillers[split:])
