"""The dialogues that the tiny model is trained on, as batches of token ids.

A batch is a pure function of seed and number, so any number of worker processes draws the same.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from runner.testbed.grammar import Dialogue, DialogueShape, DialogueSource, segments
from runner.testbed.trainable_model import Wanted, wanted_tokens
from runner.testbed.vocabulary import PAD, Vocabulary, load_vocabulary

SHORT = DialogueShape(any_dialect=True)
LONG = DialogueShape(any_dialect=True, fillers=(90, 340))
_LONG_EVERY = 3  # every third batch has long prompts, and fewer dialogues for as much work
_LONG_SHARE = 0.4


class Batch(NamedTuple):
    tokens: Tensor  # (B, T)
    learnt: Tensor  # (B, T) True where the assistant wrote the token
    wanted: Wanted  # those before the learnt ones, which have to predict them

    @property
    def targets(self) -> Tensor:
        """(B, R) what the wanted tokens have to predict."""
        return self.tokens.roll(-1, 1).gather(1, self.wanted.positions)

    def to(self, device: torch.device | str) -> Batch:
        tokens, learnt = (part.to(device, non_blocking=True) for part in self[:2])
        wanted = Wanted(*(part.to(device, non_blocking=True) for part in self.wanted))
        return Batch(tokens, learnt, wanted)


def draw_batch(source: DialogueSource, size: int) -> Batch:
    """`size` new dialogues."""
    return batch_of([source.draw() for _ in range(size)])


def batch_of(dialogues: Sequence[Dialogue]) -> Batch:
    """Whole dialogues as rows, padded to the longest."""
    scripts = [list(segments(dialogue)) for dialogue in dialogues]
    width = max(sum(len(part.tokens) for part in script) for script in scripts)
    tokens, learnt = array("i"), bytearray()
    for script in scripts:
        for part in script:
            tokens.extend(part.tokens)
            learnt.extend((part.by_assistant,) * len(part.tokens))
        missing = -len(tokens) % width
        tokens.extend((PAD,) * missing)
        learnt.extend((False,) * missing)
    shape = (len(scripts), width)
    is_learnt = torch.frombuffer(learnt, dtype=torch.uint8).reshape(shape).bool()
    return Batch(
        torch.frombuffer(tokens, dtype=torch.int32).reshape(shape).long(),
        is_learnt,
        wanted_tokens(F.pad(is_learnt[:, 1:], (0, 1))),
    )


class TrainingBatches(Dataset[Batch]):
    """Batch number `index` of a training of this seed; `size` dialogues, or fewer long ones."""

    def __init__(self, seed: int, size: int, vocabulary: Vocabulary | None = None) -> None:
        self._seed = seed
        self._size = size
        self._vocabulary = vocabulary or load_vocabulary()

    def __getitem__(self, index: int) -> Batch:
        is_long = index % _LONG_EVERY == _LONG_EVERY - 1
        rng = random.Random(f"{self._seed}/{index}")
        source = DialogueSource(self._vocabulary, rng, LONG if is_long else SHORT)
        size = max(1, round(self._size * _LONG_SHARE)) if is_long else self._size
        return draw_batch(source, size)


def feed(batches: TrainingBatches, steps: int, *, workers: int, device: str) -> DataLoader[Batch]:
    """The first `steps` batches in order, drawn ahead by `workers` processes (0: by this one)."""
    return DataLoader(
        batches,
        batch_size=None,
        sampler=range(steps),
        num_workers=workers,
        pin_memory=device == "cuda",
    )
