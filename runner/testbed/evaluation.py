"""How often the model itself is wrong, with caches that are intact: `decisive testbed evaluate`.

Every token that the assistant owes is predicted from the right ones before it, with sparse
attention and with keys, values and index keys rounded as the caches store them. A session is right
if all of them are, which is when greedy decoding would have said the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from runner.testbed.detokenizer import decode
from runner.testbed.index_keys import INDEX_DIM, PAGE_TOKENS, make_index_keys
from runner.testbed.model import WEIGHTS_FOLDER, WEIGHTS_NAME
from runner.testbed.provenance import provenance, sha256_of
from runner.testbed.scripted_dialogues import draw_dialogues
from runner.testbed.trainable_model import (
    StoredForm,
    TrainableModel,
    load_trainable,
)
from runner.testbed.training_batches import Batch, batch_of
from runner.testbed.vocabulary import load_vocabulary

_TOKENS_AT_A_TIME = 10_000
_MOST_EXAMPLES = 20


class WrongToken(NamedTuple):
    """`row` is the dialogue's place in its batch."""

    row: int
    position: int
    due: int
    chosen: int


def stored_form(index_k_dtype: str) -> StoredForm:
    """What bf16 keys and values, and index keys of this type, are after a round trip."""
    return StoredForm(
        kv=lambda values: values.bfloat16().float(),
        index_key=lambda keys: _round_trip(keys, index_k_dtype),
    )


def _round_trip(keys: Tensor, index_k_dtype: str) -> Tensor:
    """(B, T, 128) keys as they come out of pages."""
    form = make_index_keys(index_k_dtype, 1)
    flat = keys.reshape(-1, INDEX_DIM)
    pages = torch.zeros(
        -(-flat.shape[0] // PAGE_TOKENS), form.page_bytes, dtype=torch.uint8, device=keys.device
    )
    slots = torch.arange(flat.shape[0], device=keys.device)
    form.write(pages, (slots // PAGE_TOKENS, slots % PAGE_TOKENS), flat)
    return form.read(pages)[: flat.shape[0]].view_as(keys)


@torch.no_grad()
def wrong_tokens(model: TrainableModel, batch: Batch, stored: StoredForm) -> list[WrongToken]:
    """All assistant tokens of a batch that the model would not have chosen."""
    wanted, due = batch.wanted, batch.targets
    hidden, _ = model(batch.tokens, wanted, sparse=True, stored=stored)
    chosen = model.logits(hidden).argmax(-1)  # (B, R)
    found = ((chosen != due) & wanted.is_real).nonzero().tolist()
    return [
        WrongToken(
            row,
            int(wanted.positions[row, place]) + 1,
            int(due[row, place]),
            int(chosen[row, place]),
        )
        for row, place in found
    ]


def right_sessions(model: TrainableModel, batch: Batch, index_k_dtype: str = "bf16") -> int:
    """How many sessions of a batch have every assistant token right."""
    wrong = wrong_tokens(model, batch, stored_form(index_k_dtype))
    return batch.tokens.shape[0] - len({token.row for token in wrong})


def evaluate(
    model: TrainableModel,
    *,
    sessions: int,
    seed: str,
    first_prompt: int,
    index_k_dtype: str,
) -> dict[str, Any]:
    """Counts, and the first wrong tokens with what stood before them."""
    vocabulary, stored = load_vocabulary(), stored_form(index_k_dtype)
    n_wrong_sessions, n_wrong_tokens, n_tokens = 0, 0, 0
    examples: list[dict[str, str]] = []
    for count, part_seed in _parts(sessions, first_prompt, seed):
        dialogues = draw_dialogues(vocabulary, count, seed=part_seed, first_prompt=first_prompt)
        batch = batch_of(dialogues)
        wrong = wrong_tokens(model, batch.to(model.embedding.device), stored)
        n_tokens += int(batch.learnt.sum())
        n_wrong_tokens += len(wrong)
        n_wrong_sessions += len({token.row for token in wrong})
        for token in wrong[: max(0, _MOST_EXAMPLES - len(examples))]:
            before = batch.tokens[token.row, max(0, token.position - 12) : token.position].tolist()
            examples.append(
                {
                    "before": decode(vocabulary, before),
                    "due": vocabulary.pieces[token.due],
                    "chosen": vocabulary.pieces[token.chosen],
                }
            )
    return {
        "first_prompt": first_prompt,
        "index_k_dtype": index_k_dtype,
        "seed": seed,
        "sessions": sessions,
        "wrong_sessions": n_wrong_sessions,
        "assistant_tokens": n_tokens,
        "wrong_tokens": n_wrong_tokens,
        "examples": examples,
    }


def _parts(sessions: int, first_prompt: int, seed: str) -> Iterator[tuple[int, str]]:
    """Sizes and seeds of the batches; they depend on the arguments alone, never on the device."""
    size = max(1, _TOKENS_AT_A_TIME // first_prompt)
    for start in range(0, sessions, size):
        yield min(size, sessions - start), f"{seed}/{first_prompt}/{start}"


def main(argv: Sequence[str]) -> int:
    arguments = _parser().parse_args(argv)
    torch.set_num_threads(arguments.threads)
    model = load_trainable(arguments.weights, arguments.device)
    started_s = time.monotonic()
    results = []
    for first_prompt in arguments.first_prompt:
        for dtype in arguments.index_k_dtype:
            result = evaluate(
                model,
                sessions=arguments.sessions,
                seed=arguments.seed,
                first_prompt=first_prompt,
                index_k_dtype=dtype,
            )
            results.append(result)
            sys.stdout.write(_sentence(result))
            sys.stdout.flush()
    if arguments.json is not None:
        facts = provenance(
            ["decisive", "testbed", "evaluate", *argv],
            device=arguments.device,
            seeds=[arguments.seed],
            commit=arguments.commit,
        )
        body = {
            **facts,
            "weights_sha256": sha256_of(arguments.weights / WEIGHTS_NAME),
            "seconds": round(time.monotonic() - started_s, 1),
            "results": results,
        }
        text = json.dumps(body, indent=1, ensure_ascii=False) + "\n"
        arguments.json.write_text(text, encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="decisive testbed evaluate", description=__doc__)
    parser.add_argument("--weights", type=Path, default=WEIGHTS_FOLDER, metavar="FOLDER")
    parser.add_argument("--sessions", type=int, default=1000, help="for each size and type")
    parser.add_argument("--first-prompt", type=int, nargs="+", default=[140, 330], metavar="TOKENS")
    parser.add_argument("--index-k-dtype", nargs="+", choices=["fp8", "bf16"], default=["bf16"])
    parser.add_argument("--seed", default="held out", help="of the dialogues")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--commit", help="of this code, where it is in no git repository")
    return parser


def _sentence(result: dict[str, Any]) -> str:
    return (
        f"first prompt {result['first_prompt']} tokens, {result['index_k_dtype']} index keys: "
        f"{result['wrong_sessions']} of {result['sessions']} sessions wrong "
        f"({result['wrong_tokens']} of {result['assistant_tokens']} tokens)\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
