"""Trains the tiny model from nothing: `python -m runner.testbed.training --out FOLDER`.

The recipe is DeepSeek's sparse attention in small. First half: dense attention, while the indexer
learns (by KL, its input detached) what the heads attend to. Second half: each token reads only its
window and the indexer's top k, and the KL runs over those. Cross-entropy on the assistant's tokens
alone. `--start-from FOLDER` goes on from weights that this script has written. About 2 CPU seconds
a step at batch 32; a GPU is used when there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from runner.testbed.model import WEIGHTS_NAME, ModelConfig, config_json
from runner.testbed.provenance import provenance, sha256_of
from runner.testbed.trainable_model import TrainableModel, load_trainable
from runner.testbed.training_batches import Batch, TrainingBatches, feed
from runner.testbed.vocabulary import PAD
from runner.testbed.weight_file import write_weights

_KL_SHARE_OF_OTHERS = 0.05  # tokens that nobody has to predict teach the indexer a little too
_NOT_ASKED = -100
_REPORT_EVERY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    steps: int = 24_000
    batch: int = 96
    learning_rate: float = 3e-3
    warmup_steps: int = 100
    dense_share: float = 0.4
    indexer_weight: float = 0.5
    seed: int = 0


class StepReport(NamedTuple):
    step: int
    loss: float
    indexer_divergence: float


def train(
    model: TrainableModel,
    batches: Iterable[Batch],
    settings: TrainingSettings,
    report: Callable[[StepReport], None],
) -> None:
    """Run as many steps as there are batches, in place; `report` hears of every hundredth."""
    device = model.embedding.device
    indexer = [p for name, p in model.named_parameters() if ".index_" in name]
    others = [p for name, p in model.named_parameters() if ".index_" not in name]
    optimizer = torch.optim.AdamW(
        [*others, *indexer],
        lr=settings.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=device.type == "cuda",
    )
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, settings)
        sparse = step >= settings.dense_share * settings.steps
        loss, divergence = losses(model, batch.to(device), sparse=sparse)
        optimizer.zero_grad()
        (loss + settings.indexer_weight * divergence).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(others, 1.0)
        nn.utils.clip_grad_norm_(indexer, 1.0)
        optimizer.step()
        if step % _REPORT_EVERY == 0 or step == settings.steps - 1:
            report(StepReport(step, loss.item(), divergence.item()))


def losses(model: TrainableModel, batch: Batch, *, sparse: bool) -> tuple[Tensor, Tensor]:
    """Cross-entropy on the assistant's tokens, and the indexer's divergence."""
    predicts = F.pad(batch.learnt[:, 1:], (0, 1))  # True where the next token is the assistant's
    mask = predicts.float() + _KL_SHARE_OF_OTHERS * (batch.tokens != PAD)
    hidden, divergence = model(batch.tokens, batch.wanted, sparse=sparse, indexer_mask=mask)
    # Masked, not left out: a GPU would have to be waited for to learn how many there are.
    targets = batch.targets.masked_fill(~batch.wanted.is_real, _NOT_ASKED)
    loss = F.cross_entropy(
        model.logits(hidden).flatten(0, 1), targets.flatten(), ignore_index=_NOT_ASKED
    )
    return loss, divergence


def learning_rate(step: int, settings: TrainingSettings) -> float:
    """Linear warm-up, flat to the middle, then linear down to nearly nothing."""
    warm = min(1.0, (step + 1) / settings.warmup_steps)
    cool = min(1.0, max(0.003, 2 * (1 - step / settings.steps)))
    return settings.learning_rate * warm * cool


def save_weights(model: TrainableModel, folder: Path) -> None:
    """Write what `load_model` reads: fp16 weights and the shape."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: value.half() for name, value in model.state_dict().items()}
    write_weights(folder / WEIGHTS_NAME, tensors)
    (folder / "config.json").write_text(config_json(model.config), encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    arguments = _parser().parse_args(argv)
    settings = TrainingSettings(
        steps=arguments.steps,
        batch=arguments.batch,
        learning_rate=arguments.learning_rate,
        dense_share=arguments.dense_share,
        seed=arguments.seed,
    )
    torch.manual_seed(settings.seed)
    torch.set_float32_matmul_precision("high")
    if arguments.start_from is None:
        model = TrainableModel(ModelConfig()).to(arguments.device)
    else:
        model = load_trainable(arguments.start_from, arguments.device).train()
    batches = feed(
        TrainingBatches(settings.seed, settings.batch),
        settings.steps,
        workers=arguments.workers,
        device=arguments.device,
    )
    facts = provenance(
        ["python", "-m", "runner.testbed.training", *argv],
        device=arguments.device,
        seeds=[settings.seed],
        commit=arguments.commit,
    )
    if arguments.start_from is not None:
        facts["started_from_sha256"] = sha256_of(arguments.start_from / WEIGHTS_NAME)
    history = _TrainingHistory(settings, facts)
    train(model, batches, settings, history.report)
    save_weights(model, arguments.out)
    history.save(arguments.out / "training.json")
    return 0


def _parser() -> argparse.ArgumentParser:
    default = TrainingSettings()
    parser = argparse.ArgumentParser(prog="python -m runner.testbed.training")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument("--start-from", type=Path, metavar="FOLDER", help="go on from these")
    parser.add_argument("--steps", type=int, default=default.steps)
    parser.add_argument("--batch", type=int, default=default.batch)
    parser.add_argument("--learning-rate", type=float, default=default.learning_rate)
    parser.add_argument(
        "--dense-share", type=float, default=default.dense_share, help="of the steps, 0 to 1"
    )
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--workers", type=int, default=0, help="processes that draw dialogues")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--commit", help="of this code, where it is in no git repository")
    return parser


class _TrainingHistory:
    """What is said while training, and kept beside the weights."""

    def __init__(self, settings: TrainingSettings, facts: dict[str, Any]) -> None:
        self._settings = settings
        self._facts = facts
        self._reports: list[StepReport] = []
        self._started_s = time.monotonic()

    def report(self, report: StepReport) -> None:
        self._reports.append(report)
        sys.stdout.write(
            f"{time.monotonic() - self._started_s:.1f} s, step {report.step}: "
            f"loss {report.loss:.5f}, indexer divergence {report.indexer_divergence:.4f}\n"
        )
        sys.stdout.flush()

    def save(self, path: Path) -> None:
        body = {
            **self._facts,
            "settings": asdict(self._settings),
            "seconds": round(time.monotonic() - self._started_s, 1),
            "steps": [
                {"step": r.step, "loss": r.loss, "indexer_divergence": r.indexer_divergence}
                for r in self._reports[:: max(1, len(self._reports) // 60)]
            ],
        }
        path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
