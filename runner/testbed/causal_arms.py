"""The arms of the causal table: each fault as it is, and under the controls that tell it apart.

Levels (pages, speeds, timeouts) are tuned so that a fault shows at this size; the table is about
none against some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from runner.testbed.launch_options import ALL_TOKENS, LaunchOptions

Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is played: `options` beside the fault, sessions, and the first prompt's tokens."""

    concurrency: int
    sessions: int
    options: Changes
    first_prompt: int = 140
    patience_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Fault:
    """What is switched on in a launch that is otherwise intact."""

    name: str
    switches: Changes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Control:
    """What is changed beside the fault. `concurrency` and `stream` are the client's."""

    name: str
    switches: Changes = field(default_factory=dict)
    concurrency: int | None = None
    sessions: int | None = None
    stream: bool = True


INTACT: Changes = {
    "enable_hierarchical_cache": True,
    "index_k_dtype": "bf16",
    "host_index_bytes": "dtype",
    "load_back_gate": "all",
}
# A prefill at a time, so that requests wait and more of what they need is evicted meanwhile.
SMALL = Size(
    24,
    24,
    {"pages": 66, "host_pages": 500, "max_running_requests": 24, "prefill_max_requests": 1},
)
C80 = Size(80, 80, {"pages": 264, "host_pages": 1600, "max_running_requests": 96})
C500 = Size(
    500,
    500,
    {"pages": 1650, "host_pages": 10_000, "max_running_requests": 512, "context_length": 512},
)
SIZES = {"small": SMALL, "c80": C80, "c500": C500}

POOL = Fault("F1: host pool sized for fp8", {"host_index_bytes": "fp8"})
GATE = Fault("F2: gate without the index keys", {"load_back_gate": "kv_only"})
BOTH = Fault("F1 and F2", {"host_index_bytes": "fp8", "load_back_gate": "kv_only"})
GATE_AT_FULL_SPEED = Fault(
    "F2, index copies not slowed down", {"load_back_gate": "kv_only", "index_copy_mb_per_s": 0.0}
)
# The audit's own kernels stand between the gate and the read: without them the race is as it is.
GATE_UNOBSERVED = Fault(
    "the same, not audited", {**GATE_AT_FULL_SPEED.switches, "index_audit": False}
)
NO_MIRROR = Fault("host mirror without index keys", {"host_index_bytes": "none"})
EARLY_RELEASE = Fault(
    "pages freed while they are written",
    {
        "decode_kv_release": "immediate",
        "slow_transfer_every": 8,
        "slow_transfer_s": 0.3,
        "disaggregation_waiting_timeout": 0.15,
        "max_running_requests": 12,
    },
)
FAULTS = (
    Fault("none"),
    POOL,
    GATE,
    BOTH,
    NO_MIRROR,
    Fault("state list one page short", {"state_pages_short": 1}),
    EARLY_RELEASE,
    Fault("stalled transfer", {"stall_transfer_after": 150, "disaggregation_waiting_timeout": 2.0}),
    Fault("leak of decode slots", {"leak_slot_every": 6}),
    Fault("opener not held back", {"parser_hold_back": False}),
    Fault("detokenizer table too small", {"detokenizer_max_states": 16}),
)
DEVICE_FAULTS = (Fault("none"), POOL, GATE, BOTH, GATE_AT_FULL_SPEED, GATE_UNOBSERVED, NO_MIRROR)

AS_IT_IS = Control("as it is")
EVERYTHING_SELECTED = Control("k = all", {"index_topk": ALL_TOKENS})
NO_HICACHE = Control("HiCache off", {"enable_hierarchical_cache": False})
FP8 = Control("fp8 keys", {"index_k_dtype": "fp8"})
ONE_AT_A_TIME = Control("C = 1", concurrency=1, sessions=10)
NOT_STREAMED = Control("not streamed", stream=False)
CONTROLS = (AS_IT_IS, EVERYTHING_SELECTED, NO_HICACHE, FP8, ONE_AT_A_TIME, NOT_STREAMED)
DEVICE_CONTROLS = (AS_IT_IS, EVERYTHING_SELECTED, NO_HICACHE, FP8)


def launch_options(size: Size, fault: Fault, control: Control, device: str) -> LaunchOptions:
    """The fault's own switches stand over the size's, the control's over both."""
    switches = {**INTACT, **size.options, **fault.switches, **control.switches}
    return replace(LaunchOptions(), device=device, **switches)
