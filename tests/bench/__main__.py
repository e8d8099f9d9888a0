"""All benches, one after the other: python -m tests.bench."""

import subprocess
import sys

BENCHES = (
    "tests.bench.streaming_client",
    "tests.bench.log_scan",
    "tests.bench.evidence",
    "tests.bench.evidence_speed",
)


def main() -> int:
    """0 where every bench ran to its end."""
    statuses = [subprocess.run([sys.executable, "-m", bench]).returncode for bench in BENCHES]
    return max(statuses)


if __name__ == "__main__":
    raise SystemExit(main())
