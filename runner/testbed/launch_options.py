"""The launch switches of the testbed: their names, defaults and meaning."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields

VERSION = "0.1.0"
ALL_TOKENS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """One launch, as parsed; names follow SGLang's server arguments where it has the same thing."""

    host: str = "127.0.0.1"
    port: int = 0
    served_model_name: str = "tiny-dsml"
    index_k_dtype: str = "bf16"
    enable_hierarchical_cache: bool = False
    host_index_bytes: str = "fp8"
    index_topk: int = 32
    pages: int = 264
    host_pages: int = 1600
    context_length: int = 1024
    max_running_requests: int = 96
    prefill_max_requests: int = 4
    max_output_tokens: int = 256
    tool_call_parser: str = "strict"
    stall_transfer_after: int | None = None
    disaggregation_waiting_timeout: float = 300.0
    decode_log_interval: int = 40
    num_threads: int = 1
    random_seed: int = 0
    access_log: bool = True


def parse_launch_options(argv: Sequence[str]) -> LaunchOptions:
    """Raises SystemExit(2), after argparse's own sentence, when a switch does not fit."""
    parsed = vars(_parser().parse_args(argv))
    options = LaunchOptions(**{field.name: parsed[field.name] for field in fields(LaunchOptions)})
    slot_pages = -(-options.context_length // 64)
    if options.pages < slot_pages:
        _parser().error(
            f"--pages {options.pages}: one request of {options.context_length} tokens needs "
            f"{slot_pages}; raise --pages or lower --context-length"
        )
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runner.testbed serve",
        description="A small serving stack with switchable faults, speaking SGLang's surface.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    default = LaunchOptions()

    def switch(*names: str, **settings: object) -> None:
        dest = str(settings.pop("dest", names[0].lstrip("-").replace("-", "_")))
        settings.setdefault("default", getattr(default, dest))
        parser.add_argument(*names, dest=dest, **settings)  # type: ignore[arg-type]

    switch("--host", help="address to listen on")
    switch("--port", type=int, help="0 picks a free port; the bound address is printed")
    switch("--served-model-name", help="name in /v1/models and in answers")
    switch("--index-k-dtype", choices=["fp8", "bf16"], help="132 or 256 bytes a token and layer")
    switch("--enable-hierarchical-cache", action="store_true", help="host mirror with load-back")
    switch(
        "--host-index-bytes",
        choices=["fp8", "dtype"],
        help="size of a host index page: for fp8 whatever the type (fault F1), or as on the device",
    )
    switch("--index-topk", type=_topk, help="tokens chosen by the indexer; `all` selects nothing")
    switch("--pages", type=_positive, help="pages of 64 tokens in the prefill pool")
    switch("--host-pages", type=_positive, help="pages in the host pool")
    switch("--context-length", type=_context, help="most tokens of prompt and answer together")
    switch("--max-running-requests", "--max-running", type=_positive, help="decode slots")
    switch("--prefill-max-requests", type=_positive, help="prefills in one engine step at most")
    switch("--max-output-tokens", type=_positive, help="an answer is cut here at the latest")
    switch(
        "--parser", dest="tool_call_parser", choices=["strict"], help="what becomes of a bad block"
    )
    switch(
        "--stall-transfer-after",
        type=_not_negative,
        metavar="N",
        help="wedge: after N page transfers every further one stays in KVPoll.WaitingForInput",
    )
    switch(
        "--disaggregation-waiting-timeout",
        type=float,
        metavar="SECONDS",
        help="a transfer that waits longer fails its request",
    )
    switch("--decode-log-interval", type=_positive, help="decode steps between two status lines")
    switch("--num-threads", type=_positive, help="torch threads of the engine")
    switch("--random-seed", type=int, help="seed of the bootstrap room numbers, of nothing else")
    switch("--access-log", action=argparse.BooleanOptionalAction, help="one line per HTTP request")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _not_negative(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def _context(text: str) -> int:
    value = _positive(text)
    if value > ALL_TOKENS:
        raise argparse.ArgumentTypeError(f"{text}: the model knows {ALL_TOKENS} positions")
    return value


def _topk(text: str) -> int:
    return ALL_TOKENS if text == "all" else _positive(text)
