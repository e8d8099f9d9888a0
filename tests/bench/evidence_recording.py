"""Makes the runs that the bench of the verdicts resamples, with the testbed's engine in process.

python -m tests.bench.evidence_recording [--runs N] adds to evidence_runs.json, run by run; it takes
about seven CPU seconds a run. Each run has dialogues and latencies of its own seed; an arm has the
seed's dialogues in every run of that number, as campaigns do. Nothing here draws corruption.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from runner.testbed.closed_loop import ClosedLoop
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel, load_model
from runner.testbed.scripted_dialogues import draw_dialogues
from runner.testbed.vocabulary import load_vocabulary

FILE = Path(__file__).parent / "evidence_runs.json"
SESSIONS = 80
FIRST_PROMPT = 140

FAULTY = LaunchOptions(
    index_k_dtype="bf16", enable_hierarchical_cache=True, host_index_bytes="fp8", pages=264
)
# name: launch options, concurrency
ARMS: dict[str, tuple[LaunchOptions, int]] = {
    "bf16, fp8-sized": (FAULTY, 80),
    "bf16, dtype-aware": (replace(FAULTY, host_index_bytes="dtype"), 80),
    "fp8, fp8-sized": (replace(FAULTY, index_k_dtype="fp8"), 80),
    "bf16, fp8-sized, C=60": (FAULTY, 60),
    "bf16, fp8-sized, stalled": (
        replace(FAULTY, stall_transfer_after=440, disaggregation_waiting_timeout=5.0),
        80,
    ),
}
WEDGED = ("bf16, fp8-sized, stalled",)
COMPARISONS = (
    ("the change works: dtype-aware pool v fp8-sized", "bf16, dtype-aware", "bf16, fp8-sized"),
    ("other keys: fp8 v bf16", "fp8, fp8-sized", "bf16, fp8-sized"),
    ("nothing differs: bf16 v bf16", "bf16, fp8-sized", "bf16, fp8-sized"),
    ("fewer sessions at once: C=60 v C=80", "bf16, fp8-sized, C=60", "bf16, fp8-sized"),
    ("a failing change that stalls v bf16", "bf16, fp8-sized, stalled", "bf16, fp8-sized"),
    ("both clean: dtype-aware v fp8", "bf16, dtype-aware", "fp8, fp8-sized"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    torch.set_num_threads(1)
    model = load_model()
    arms = _recorded_so_far()
    for seed in range(runs):
        for name, (options, concurrency) in ARMS.items():
            if seed < len(arms[name]):
                continue
            started_s = time.process_time()
            counts = record_run(model, options, concurrency=concurrency, seed=seed)
            arms[name].append(counts)
            sys.stdout.write(f"{seed} {name}: {counts} {time.process_time() - started_s:.1f} s\n")
            sys.stdout.flush()
        write(arms)
    return 0


def record_run(
    model: FusedModel, options: LaunchOptions, *, concurrency: int, seed: int
) -> list[int]:
    """Clean, corrupt and silent sessions."""
    loop = ClosedLoop(
        model,
        options,
        concurrency=concurrency,
        dialogues=draw_dialogues(load_vocabulary(), SESSIONS, seed=seed, first_prompt=FIRST_PROMPT),
        seed=seed,
    )
    outcomes = loop.run().outcomes
    return [outcomes["right"], outcomes["corrupt"], outcomes["error"]]


def write(arms: dict[str, list[list[int]]]) -> None:
    about = f"{len(next(iter(arms.values())))} runs an arm of {SESSIONS} sessions"
    content = {"about": about, "comparisons": COMPARISONS, "wedged": WEDGED, "arms": arms}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _recorded_so_far() -> dict[str, list[list[int]]]:
    """What an earlier call left, so that it may be interrupted."""
    arms: dict[str, list[list[int]]] = {name: [] for name in ARMS}
    if FILE.exists():
        arms.update(json.loads(FILE.read_text(encoding="utf-8"))["arms"])
    return arms


if __name__ == "__main__":
    raise SystemExit(main())
