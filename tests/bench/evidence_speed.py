"""How much CPU time a verdict takes, in a process that has made none before and in one that has.

python -m tests.bench.evidence_speed prints the table of README.md, a fresh process a row.
"""

import subprocess
import sys
import time
from collections.abc import Iterator

SHAPES = (
    "1 + 1",
    "3 + 3",
    "3 + 3 with silence",
    "3 + 3, decided by e-values",
    "5 + 5",
    "6 + 6",
    "20 + 20",
)
SESSIONS = 80
LIMIT_MS = 1_000.0  # of the first verdict on up to three runs an arm


def main() -> int:
    """1 where a first verdict on up to three runs an arm took longer than a second."""
    if len(sys.argv) > 1:
        _measure(sys.argv[1])
        return 0
    slow = False
    for line, first_ms in _rows():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        slow = slow or (line.startswith(("| 1", "| 3")) and first_ms > LIMIT_MS)
    return int(slow)


def _rows() -> Iterator[tuple[str, float]]:
    yield "| runs of 80 | imports | first verdict | next ones | basis as told |", 0.0
    yield "| --- | --- | --- | --- | --- |", 0.0
    for shape in SHAPES:
        made = subprocess.run(
            [sys.executable, "-m", "tests.bench.evidence_speed", shape],
            capture_output=True,
            text=True,
            check=True,
        )
        imports_ms, first_ms, next_ms, method = made.stdout.split(maxsplit=3)
        yield (
            f"| {shape} | {imports_ms} ms | {first_ms} ms | {next_ms} ms | {method.strip()} |",
            float(first_ms),
        )


def _measure(shape: str) -> None:
    """Prints CPU milliseconds of the imports, of the first verdict and of the median of others."""
    began_s = time.process_time()
    import numpy as np

    from runner.evidence.campaign_verdict import judge_hypothesis
    from runner.evidence.counts_question import question_of_counts
    from runner.evidence.decision_rule import DecisionRule, Ending
    from runner.evidence.silent_sessions import LaunchCounts

    imported_s = time.process_time()
    runs = int(shape.split()[0])
    silent = 6 if "silence" in shape else 0
    rule = DecisionRule(ending=Ending.DECIDED if "decided" in shape else Ending.FIXED)
    times_ms: list[float] = []
    method = ""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        after, before = (
            [
                LaunchCounts(SESSIONS - silent - int(k), int(k), silent)
                for k in rng.binomial(SESSIONS - silent, rate, runs)
            ]
            for rate in (0.05, 0.15)
        )
        question = question_of_counts(after, before, rule=rule, wedges=0)
        started_s = time.process_time()
        verdict = judge_hypothesis(question)
        times_ms.append(1000 * (time.process_time() - started_s))
        method = verdict.basis.split("; ")[1].split(", ICC")[0]
    imports_ms = 1000 * (imported_s - began_s)
    next_ms = float(np.median(times_ms[1:]))
    sys.stdout.write(f"{imports_ms:.0f} {times_ms[0]:.0f} {next_ms:.0f} {method}\n")


if __name__ == "__main__":
    raise SystemExit(main())
