"""Load generators of others, where they are installed: aiperf and guidellm, by their own commands.

`DECISIVE_BENCH_AIPERF` and `DECISIVE_BENCH_GUIDELLM` name their programs, each in an environment of
its own (`python3.11 -m venv aiperf && aiperf/bin/pip install aiperf`); without them the bench says
so and goes on. Both are given what keeps them from asking the network, and their own figures are
taken: requests a second, times the chunks of an answer.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bench.stream_load import CHUNKS, Load

DEADLINE_S: Final = 300
_TOKENIZER: Final = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = {word: number for number, word in enumerate(["<unk>", "</s>", *map(str, range(2000))])}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")
fast.save_pretrained(sys.argv[1])
"""


class PeerFailedError(Exception):
    """It is installed and did not give a figure; its text says why."""


def aiperf_requests_per_s(program: Path, url: str, load: Load, folder: Path) -> float:
    tokenizer = folder / "tokenizer"
    python = program.parent / "python"
    _run([str(python), "-c", _TOKENIZER, str(tokenizer)], folder)
    _run(
        [
            str(program),
            *("profile", "--model", "stub", "--tokenizer", str(tokenizer), "--url", url),
            *("--endpoint-type", "chat", "--streaming", "--concurrency", str(load.streams)),
            *("--request-count", str(load.requests), "--num-dataset-entries", "100"),
            *("--synthetic-input-tokens-mean", "20", "--ui", "none", "--no-gpu-telemetry"),
            *("--no-server-metrics", "--use-server-token-count", "--export-level", "summary"),
            *("--artifact-dir", str(folder / "artifacts")),
        ],
        folder,
    )
    said = json.loads((folder / "artifacts" / "profile_export_aiperf.json").read_text("utf-8"))
    return float(said["request_throughput"]["avg"])


def guidellm_requests_per_s(program: Path, url: str, load: Load, folder: Path) -> float:
    prompts, said = folder / "prompts.jsonl", folder / "said.json"
    line = json.dumps({"prompt": "Say some words.", "output_tokens_count": CHUNKS})
    prompts.write_text(f"{line}\n" * load.requests, "utf-8")
    backend = f"kind=openai_http,target={url},model=stub,request_format=/v1/chat/completions"
    _run(
        [
            str(program),
            *("run", "--backend", backend),
            *("--profile", f"kind=concurrent,streams={load.streams}"),
            *("--constraint", f"kind=max_requests,count={load.requests}"),
            *("--data", f"kind=json_file,path={prompts}"),
            *("--output", f"kind=json,path={said}", "--disable-console-interactive"),
        ],
        folder,
    )
    metrics = json.loads(said.read_text("utf-8"))["benchmarks"][0]["metrics"]
    return float(metrics["requests_per_second"]["successful"]["mean"])


Measure = Callable[[Path, str, Load, Path], float]
PEERS: Final[dict[str, tuple[str, Measure]]] = {
    "aiperf": ("DECISIVE_BENCH_AIPERF", aiperf_requests_per_s),
    "guidellm": ("DECISIVE_BENCH_GUIDELLM", guidellm_requests_per_s),
}


def peer_requests_per_s(name: str, url: str, load: Load) -> float | None:
    """None where it is not installed. Raises PeerFailedError."""
    variable, measure = PEERS[name]
    program = os.environ.get(variable)
    if not program:
        return None
    with tempfile.TemporaryDirectory() as folder, _on_our_core():
        try:
            return measure(Path(program), url, load, Path(folder))
        except (LookupError, ValueError, OSError) as error:
            raise PeerFailedError(f"{type(error).__name__}: {error}") from error


@contextmanager
def _on_our_core() -> Iterator[None]:
    """What is started here runs where the other clients do."""
    before = os.sched_getaffinity(0)
    if len(before) > 1:
        os.sched_setaffinity(0, {sorted(before)[1]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise PeerFailedError(f"no end within {DEADLINE_S} s") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
        raise PeerFailedError(f"status {done.returncode}: {last[0][:200]}")
