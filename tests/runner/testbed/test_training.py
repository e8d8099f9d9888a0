"""The training script learns, and what it saves can be served."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from runner.testbed.grammar import DialogueShape, DialogueSource, segments
from runner.testbed.model import ModelConfig, load_model
from runner.testbed.trainable_model import TrainableModel
from runner.testbed.training import (
    StepReport,
    TrainingSettings,
    learning_rate,
    losses,
    save_weights,
    train,
)
from runner.testbed.training_batches import Batch, TrainingBatches, batch_of, draw_batch, feed
from runner.testbed.vocabulary import load_vocabulary

SMALL = replace(
    ModelConfig(), d_model=32, n_heads=2, head_dim=16, index_dim=32, index_rope_dim=16, d_ff=64
)
SETTINGS = TrainingSettings(steps=10, warmup_steps=1, dense_share=0.5, seed=0)


def batches() -> Iterator[Batch]:
    shape = DialogueShape(rounds=1, any_dialect=True)
    source = DialogueSource(load_vocabulary(), random.Random(0), shape)
    for _ in range(SETTINGS.steps):
        yield draw_batch(source, 2)


def test_a_few_steps_lower_the_loss_and_teach_the_indexer() -> None:
    torch.manual_seed(0)
    reports: list[StepReport] = []

    train(TrainableModel(SMALL), batches(), SETTINGS, reports.append)

    first, last = reports
    assert (first.step, last.step) == (0, 9)
    assert last.loss < first.loss - 0.5
    assert last.indexer_divergence < first.indexer_divergence - 0.2


def test_the_model_itself_is_not_pulled_by_the_indexers_loss() -> None:
    model = TrainableModel(SMALL)

    _, divergence = losses(model, next(batches()), sparse=False)
    divergence.backward()  # type: ignore[no-untyped-call]

    touched = {name for name, p in model.named_parameters() if p.grad is not None}
    assert touched
    assert all(".index_" in name for name in touched)


def test_saved_weights_can_be_loaded_for_serving(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = TrainableModel(SMALL)

    save_weights(model, tmp_path)

    served = load_model(tmp_path)
    assert served.config == SMALL
    assert served.unembed.shape == (32, SMALL.vocab_size)


def test_the_learning_rate_rises_stays_and_falls() -> None:
    settings = TrainingSettings(steps=1000, warmup_steps=100, learning_rate=1.0)

    assert learning_rate(0, settings) == pytest.approx(0.01)
    assert learning_rate(99, settings) == learning_rate(500, settings) == 1.0
    assert learning_rate(750, settings) == pytest.approx(0.5)
    assert learning_rate(999, settings) == pytest.approx(0.003)


def test_a_batch_depends_on_seed_and_number_alone() -> None:
    one, again, other = (TrainingBatches(seed, 4) for seed in (7, 7, 8))

    drawn = list(feed(again, 3, workers=0, device="cpu"))

    assert torch.equal(one[2].tokens, drawn[2].tokens)
    assert not torch.equal(one[2].tokens, other[2].tokens)


def test_every_third_batch_has_longer_prompts_and_fewer_of_them() -> None:
    batches = TrainingBatches(0, 10)

    sizes = [tuple(batches[number].tokens.shape) for number in range(3)]

    assert [size[0] for size in sizes] == [10, 10, 4]
    assert all(size[1] < 450 for size in sizes[:2])


def test_a_batch_marks_what_the_assistant_wrote_and_nothing_of_the_padding() -> None:
    source = DialogueSource(load_vocabulary(), random.Random(1), DialogueShape())
    dialogues = [source.draw() for _ in range(3)]

    batch = batch_of(dialogues)

    for row, dialogue in enumerate(dialogues):
        script = list(segments(dialogue))
        tokens = [token for part in script for token in part.tokens]
        learnt = [part.by_assistant for part in script for _ in part.tokens]
        assert batch.tokens[row].tolist()[: len(tokens)] == tokens
        assert batch.learnt[row].tolist() == learnt + [False] * (
            len(batch.learnt[row]) - len(learnt)
        )
