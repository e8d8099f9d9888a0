"""The figures of runner/testbed/README.md, measured anew.

`python -m tests.runner.testbed.measure arms`     corruption and CPU seconds, arm by arm and seed
`python -m tests.runner.testbed.measure context`  sessions right, by size of the first prompt
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from safetensors.torch import load_file

from runner.testbed.launch_options import ALL_TOKENS, LaunchOptions
from runner.testbed.model import WEIGHTS_FOLDER, ModelConfig, load_model
from runner.testbed.trainable_model import TrainableModel
from runner.testbed.training import batch_of, right_sessions
from tests.runner.testbed.closed_loop import ClosedLoop, draw_dialogues

BROKEN = LaunchOptions(
    index_k_dtype="bf16", enable_hierarchical_cache=True, host_index_bytes="fp8", pages=264
)
ARMS = {
    "bf16, HiCache, fp8-sized": BROKEN,
    "bf16, HiCache, fp8-sized, k = all": replace(BROKEN, index_topk=ALL_TOKENS),
    "bf16, HiCache, dtype-aware": replace(BROKEN, host_index_bytes="dtype"),
    "bf16, HiCache off": replace(BROKEN, enable_hierarchical_cache=False),
    "fp8, HiCache, fp8-sized": replace(BROKEN, index_k_dtype="fp8"),
}


def arms(concurrency: int, sessions: int, pages: int, first_prompt: int, seeds: int) -> None:
    """One line per arm: corrupt sessions, pages loaded back and CPU seconds, seed by seed."""
    model = load_model()
    for name, options in ARMS.items():
        corrupt, loaded, cpu_s = [], [], []
        for seed in range(seeds):
            dialogues = draw_dialogues(sessions, seed=seed, first_prompt=first_prompt)
            loop = ClosedLoop(
                model,
                replace(options, pages=pages),
                concurrency=concurrency,
                dialogues=dialogues,
                seed=seed,
            )
            started_s = time.process_time()
            tally = loop.run()
            cpu_s.append(f"{time.process_time() - started_s:.1f}")
            corrupt.append(str(tally.outcomes["corrupt"]))
            loaded.append(str(tally.host_tokens // 64))
        _write(
            f"{name} | C={concurrency} | {'/'.join(corrupt)} of {sessions} corrupt | "
            f"{'/'.join(loaded)} pages loaded back | {'/'.join(cpu_s)} CPU s"
        )


def context(first_prompts: Sequence[int], sessions: int) -> None:
    """Sessions whose every assistant token is predicted right, teacher-forced and sparse."""
    model = TrainableModel(ModelConfig())
    model.load_state_dict(load_file(WEIGHTS_FOLDER / "model.safetensors"))
    for n_tokens in first_prompts:
        right = 0
        for seed in range(sessions // 20):
            dialogues = draw_dialogues(20, seed=seed, first_prompt=n_tokens)
            right += right_sessions(model, batch_of(dialogues))
        _write(f"first prompt {n_tokens} tokens: {right} of {sessions // 20 * 20} sessions right")


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    arms_parser = commands.add_parser("arms")
    arms_parser.add_argument("--concurrency", type=int, default=80)
    arms_parser.add_argument("--sessions", type=int, default=80)
    arms_parser.add_argument("--pages", type=int, default=264)
    arms_parser.add_argument("--first-prompt", type=int, default=140)
    arms_parser.add_argument("--seeds", type=int, default=3)
    context_parser = commands.add_parser("context")
    context_parser.add_argument(
        "--first-prompts", type=int, nargs="+", default=[140, 200, 300, 400, 500]
    )
    context_parser.add_argument("--sessions", type=int, default=300)
    arguments = vars(parser.parse_args(argv))
    torch.set_num_threads(1)
    if arguments.pop("command") == "arms":
        arms(**arguments)
    else:
        context(**arguments)


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
