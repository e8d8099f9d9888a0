"""Fuzzes what reads the bytes of servers, guided by the coverage of our own code.

python -m tests.fuzz MINUTES [TARGET ...]

Needs atheris (`pip install -e '.[fuzz]'`). What was found to be worth keeping stays in `.fuzz/`
for the next time; an input that breaks a promise is written to `.fuzz/broken/`.
"""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = Path(".fuzz")
TARGET_NAMES = ("event_stream", "judged_answer", "metrics_page", "service_log", "followed_log")
LONGEST_INPUT_BYTES = 16_384
SLOWEST_INPUT_S = 30
MOST_MEMORY_MB = 1024
_INSTRUMENTED = ["runner.judge", "runner.observe", "prometheus_client", "tests.fuzz.targets"]
_GRACE_S = 120.0


def main() -> int:
    """0 where every target kept its promises."""
    if sys.argv[1:2] == ["--one"]:
        _fuzz(sys.argv[2], sys.argv[3:])
    if find_spec("atheris") is None:
        sys.stderr.write("atheris is not installed: pip install -e '.[fuzz]'\n")
        return 2
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    names = sys.argv[2:] or list(TARGET_NAMES)
    unknown = sorted(set(names) - set(TARGET_NAMES))
    if unknown:
        sys.stderr.write(f"no target {unknown[0]!r}; there are {', '.join(TARGET_NAMES)}\n")
        return 2
    seconds = max(1, round(minutes * 60 / len(names)))
    return max(_run(name, seconds) for name in names)


def _run(name: str, seconds: int) -> int:
    """One target in a process of its own, for so long."""
    from tests.fuzz.seeds import write_dictionary, write_seeds

    corpus, seeds, broken = (FOLDER / part for part in (name, f"seeds/{name}", "broken"))
    for folder in (corpus, broken):
        folder.mkdir(parents=True, exist_ok=True)
    write_seeds(name, seeds)
    write_dictionary(FOLDER / "words.dict")
    argv = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_INPUT_BYTES}",
        f"-timeout={SLOWEST_INPUT_S}",
        f"-rss_limit_mb={MOST_MEMORY_MB}",
        f"-dict={FOLDER / 'words.dict'}",
        f"-artifact_prefix={broken}/{name}-",
        "-print_final_stats=1",
        "-verbosity=0",
        str(corpus),
        str(seeds),
    ]
    sys.stdout.write(f"{name}: {seconds} s\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "tests.fuzz", "--one", name, *argv]
    return min(1, abs(subprocess.run(command, timeout=seconds + _GRACE_S).returncode))


def _fuzz(name: str, argv: list[str]) -> None:
    """Never returns: libFuzzer ends the process."""
    atheris: Any = import_module("atheris")
    atheris.enabled_hooks.add("str")
    with atheris.instrument_imports(include=_INSTRUMENTED):
        targets = import_module("tests.fuzz.targets")
    atheris.Setup([name, *argv], targets.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    raise SystemExit(main())
