"""The launch switches of a testbed server: their names, defaults and meaning."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields

from runner.testbed.answer_parsing import Parsing
from runner.testbed.listening_socket import port_number

VERSION = "0.2.0"
ALL_TOKENS = 1024
_PAGE_TOKENS = 64


@dataclass(frozen=True, slots=True)
class TransferFaults:
    """`stall_after`: so many transfers go through, every later one stays WAITING_FOR_INPUT.

    `slow_every`: each so many-th one takes `slow_s`, in which its pages are still to be written.
    """

    stall_after: int | None = None
    slow_every: int | None = None
    slow_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """One launch, as parsed; names follow SGLang's server arguments where it has the same thing."""

    host: str = "127.0.0.1"
    port: int = 0
    served_model_name: str = "tiny-dsml"
    topology: str = "unified"
    disaggregation_mode: str = "null"
    disaggregation_bootstrap_port: int = 0
    disaggregation_bootstrap_timeout: float = 300.0
    disaggregation_waiting_timeout: float = 300.0
    prefill_port: int = 0
    decode_port: int = 0
    log_folder: str | None = None
    end_with_stdin: bool = False
    device: str = "cpu"
    index_k_dtype: str = "bf16"
    enable_hierarchical_cache: bool = False
    host_index_bytes: str = "fp8"
    load_back_gate: str = "all"
    index_copy_mb_per_s: float = 36.0
    index_audit: bool = True
    index_topk: int = 32
    pages: int = 264
    host_pages: int = 1600
    context_length: int = 1024
    max_running_requests: int = 96
    prefill_max_requests: int = 4
    max_output_tokens: int = 256
    tool_call_parser: str = "strict"
    parser_hold_back: bool = True
    detokenizer_max_states: int = 65536
    state_pages_short: int = 0
    decode_kv_release: str = "deferred"
    leak_slot_every: int | None = None
    stall_transfer_after: int | None = None
    slow_transfer_every: int | None = None
    slow_transfer_s: float = 3.0
    stall_scheduler_after_steps: int | None = None
    stall_scheduler_s: float | None = None
    die_after_steps: int | None = None
    die_as: str = "exception"
    die_side: str = "decode"
    watchdog_timeout: float = 300.0
    soft_watchdog_timeout: float | None = None
    decode_log_interval: int = 40
    health_check_timeout: float = 20.0
    num_threads: int = 1
    random_seed: int = 0
    access_log: bool = True

    def parsing(self) -> Parsing:
        return Parsing(self.tool_call_parser, self.parser_hold_back)

    def transfer_faults(self) -> TransferFaults:
        return TransferFaults(
            self.stall_transfer_after, self.slow_transfer_every, self.slow_transfer_s
        )


def parse_launch_options(argv: Sequence[str]) -> LaunchOptions:
    """Raises SystemExit(2), after argparse's own sentence, when a switch does not fit."""
    parsed = vars(_parser().parse_args(argv))
    options = LaunchOptions(**{field.name: parsed[field.name] for field in fields(LaunchOptions)})
    slot_pages = -(-options.context_length // _PAGE_TOKENS)
    if options.pages < slot_pages:
        _parser().error(
            f"--pages {options.pages}: one request of {options.context_length} tokens needs "
            f"{slot_pages}; raise --pages or lower --context-length"
        )
    if options.device == "cuda" and (
        options.disaggregation_mode != "null" or options.topology == "split"
    ):
        _parser().error("--device cuda serves in one process: add --unified")
    return options


class _Switches:
    """Adds switches whose defaults are those of `LaunchOptions`."""

    def __init__(self, parser: argparse.ArgumentParser, title: str) -> None:
        self._group = parser.add_argument_group(title)
        self._default = LaunchOptions()

    def __call__(self, *names: str, **settings: object) -> None:
        dest = str(settings.pop("dest", names[0].lstrip("-").replace("-", "_")))
        settings.setdefault("default", getattr(self._default, dest))
        self._group.add_argument(*names, dest=dest, **settings)  # type: ignore[arg-type]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runner.testbed serve",
        description="A small serving stack with switchable faults, speaking SGLang's surface.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.set_defaults(topology=LaunchOptions().topology)  # which of two switches says otherwise
    _add_server(_Switches(parser, "server"))
    _add_topology(_Switches(parser, "processes"))
    _add_engine(_Switches(parser, "engine"))
    faults = _Switches(parser, "faults and their fixes (decisive testbed faults explains them)")
    _add_faults(faults)
    _add_scheduler_faults(faults)
    return parser


def _add_server(switch: _Switches) -> None:
    switch("--host", help="address to listen on")
    switch("--port", type=port_number, help="0 picks a free port; the bound address is printed")
    switch("--served-model-name", help="name in /v1/models and in answers")
    switch(
        "--parser",
        "--tool-call-parser",
        dest="tool_call_parser",
        choices=["strict", "sglang"],
        help="what becomes of a bad block: it comes out as text, or what SGLang makes of it",
    )
    switch("--max-output-tokens", type=_positive, help="an answer is cut here at the latest")
    switch("--decode-log-interval", type=_positive, help="decode steps between two status lines")
    switch(
        "--health-check-timeout",
        type=float,
        metavar="SECONDS",
        help="/health is 503 when the engine has not answered for so long",
    )
    switch(
        "--watchdog-timeout",
        type=float,
        metavar="SECONDS",
        help="a step of the scheduler that takes so long ends the process",
    )
    switch(
        "--soft-watchdog-timeout",
        type=float,
        metavar="SECONDS",
        help="a step of the scheduler that takes so long is written to the log",
    )
    switch("--num-threads", type=_positive, help="torch threads of the engine")
    switch("--random-seed", type=int, help="seed of the bootstrap room numbers, of nothing else")
    switch("--access-log", action=argparse.BooleanOptionalAction, help="one line per HTTP request")


def _add_topology(switch: _Switches) -> None:
    switch(
        "--unified",
        dest="topology",
        action="store_const",
        const="unified",
        default=argparse.SUPPRESS,
        help="prefill and decode in one process, as `python -m runner.testbed serve` does",
    )
    switch(
        "--split",
        dest="topology",
        action="store_const",
        const="split",
        default=argparse.SUPPRESS,
        help="a router, a prefill and a decode process, as `decisive testbed serve` does",
    )
    switch(
        "--disaggregation-mode",
        choices=["null", "prefill", "decode"],
        help="serve one side alone, to be reached through a router",
    )
    switch(
        "--prefill-port", type=port_number, help="of the prefill server behind the router; 0: free"
    )
    switch(
        "--decode-port", type=port_number, help="of the decode server behind the router; 0: free"
    )
    switch(
        "--disaggregation-bootstrap-port",
        type=int,
        help="where decode reaches prefill; 0: free",
    )
    switch(
        "--disaggregation-bootstrap-timeout",
        type=float,
        metavar="SECONDS",
        help="prefill fails a request for which decode has named no pages for so long",
    )
    switch(
        "--disaggregation-waiting-timeout",
        type=float,
        metavar="SECONDS",
        help="decode fails a request whose pages have not come for so long",
    )
    switch("--log-folder", metavar="FOLDER", help="prefill.log and decode.log go there")
    switch("--end-with-stdin", action="store_true", help="end when standard input closes")


def _add_engine(switch: _Switches) -> None:
    switch(
        "--device",
        choices=["cpu", "cuda"],
        help="cuda: loads back on side streams, in real time; in one process only",
    )
    switch(
        "--index-audit",
        action=argparse.BooleanOptionalAction,
        help="compare checksums of index-key pages (testbed: metrics)",
    )
    switch("--index-k-dtype", choices=["fp8", "bf16"], help="132 or 256 bytes a token and layer")
    switch("--index-topk", type=_topk, help="tokens chosen by the indexer; `all` selects nothing")
    switch("--enable-hierarchical-cache", action="store_true", help="host mirror with load-back")
    switch("--pages", type=_positive, help="pages of 64 tokens in the prefill pool")
    switch("--host-pages", type=_positive, help="pages in the host pool")
    switch("--context-length", type=_context, help="most tokens of prompt and answer together")
    switch("--max-running-requests", "--max-running", type=_positive, help="decode slots")
    switch("--prefill-max-requests", type=_positive, help="prefills in one engine step at most")


def _add_faults(switch: _Switches) -> None:
    switch(
        "--host-index-bytes",
        choices=["fp8", "dtype", "none"],
        help="size of a host index page: for fp8 whatever the type (fault F1), as on the device, "
        "or no index keys on the host at all (fault)",
    )
    switch(
        "--load-back-gate",
        choices=["all", "kv_only"],
        help="what a layer waits for before it reads loaded pages (kv_only: fault F2)",
    )
    switch(
        "--index-copy-mb-per-s",
        type=_not_negative_number,
        metavar="MB",
        help="speed to which the index keys' load-back queue is slowed down; 0: not at all",
    )
    switch(
        "--state-pages-short",
        type=_not_negative,
        metavar="N",
        help="decode names so many pages too few for the index keys",
    )
    switch(
        "--decode-kv-release",
        choices=["deferred", "immediate"],
        help="whether decode's pages of a given-up request wait for prefill to be done with them",
    )
    switch(
        "--parser-hold-back",
        action=argparse.BooleanOptionalAction,
        help="recognise an opener that comes in several pieces; without, streamed calls leak",
    )
    switch(
        "--detokenizer-max-states",
        type=_positive,
        metavar="N",
        help="answers whose detokenizer state is kept; of more at a time the oldest is forgotten",
    )
    switch(
        "--stall-transfer-after",
        type=_not_negative,
        metavar="N",
        help="wedge: after N page transfers every further one stays in KVPoll.WaitingForInput",
    )
    switch(
        "--slow-transfer-every",
        type=_positive,
        metavar="N",
        help="every Nth page transfer is under way for --slow-transfer-s",
    )
    switch(
        "--leak-slot-every",
        type=_positive,
        metavar="N",
        help="every Nth decode slot that ought to be given back is not",
    )
    switch("--slow-transfer-s", type=float, metavar="SECONDS", help="how long a slow one takes")


def _add_scheduler_faults(switch: _Switches) -> None:
    switch(
        "--stall-scheduler-after-steps",
        type=_not_negative,
        metavar="N",
        help="after N steps that did something the scheduler stands still in the next one",
    )
    switch("--stall-scheduler-s", type=float, metavar="SECONDS", help="how long; else for good")
    switch(
        "--die-after-steps",
        type=_not_negative,
        metavar="N",
        help="after N steps that did something the server dies in the next one",
    )
    switch("--die-as", choices=["exception", "killed"], help="with a last word in the log, or not")
    switch("--die-side", choices=["prefill", "decode"], help="which server, where there are two")


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


def _not_negative_number(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is negative or no number")
    return value


def _context(text: str) -> int:
    value = _positive(text)
    if value > ALL_TOKENS:
        raise argparse.ArgumentTypeError(f"{text}: the model knows {ALL_TOKENS} positions")
    return value


def _topk(text: str) -> int:
    return ALL_TOKENS if text == "all" else _positive(text)
