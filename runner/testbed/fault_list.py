"""Every fault that can be switched on: what it does, where it was seen, and in which arm it shows.

`decisive testbed faults` prints it.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_WIDTH = 96


@dataclass(frozen=True, slots=True)
class FaultDescription:
    """`switches` turn it on, `off` is what holds without them."""

    name: str
    switches: str
    off: str
    mechanism: str
    symptom: str
    shows_in: str
    seen_in: str


FAULTS = (
    FaultDescription(
        name="host pool sized for fp8 (F1)",
        switches="--host-index-bytes fp8",
        off="--host-index-bytes dtype",
        mechanism="A page of the host pool has 8,448 bytes for index keys whatever their type. Of "
        "a bf16 page of 16,384 bytes the rest is not kept; a page that comes back keeps, for its "
        "last 31 tokens, the bytes of its last owner.",
        symptom="Attention selects by foreign keys: broken markup, unknown tools, wrong "
        "parameters. Keys and values are intact: with --index-topk all nothing is corrupted.",
        shows_in="bf16 keys, HiCache on, more sessions at once than the device pool holds",
        seen_in="the incident this tool is built around; a mirror whose size did not follow the "
        "dtype of the keys",
    ),
    FaultDescription(
        name="load-back gate without the index keys (F2)",
        switches="--load-back-gate kv_only",
        off="--load-back-gate all",
        mechanism="A layer waits for the keys and values of the pages that are loaded back, and "
        "not for their index keys, which have a slower queue of their own.",
        symptom="Index keys of a page's last owner are read until the right ones come. Prompts "
        "that end in a request for a call suffer most.",
        shows_in="bf16 keys in pages of the right size, HiCache on, 3 pages or more loaded at "
        "once; on a GPU only while the index copies are slowed down",
        seen_in="SGLang #22811 (three getters without wait_until, up to v0.5.10)",
    ),
    FaultDescription(
        name="host mirror without index keys",
        switches="--host-index-bytes none",
        off="--host-index-bytes dtype",
        mechanism="The host keeps keys and values only. A page that comes back has all the index "
        "keys of its last owner.",
        symptom="as F1, more of it, with fp8 keys too",
        shows_in="HiCache on, with either type of keys",
        seen_in="SGLang #17085 (up to v0.5.8), #21259 and #27504 for the storage tier",
    ),
    FaultDescription(
        name="state list one page short",
        switches="--state-pages-short 1",
        off="--state-pages-short 0",
        mechanism="Decode names one page too few for the index keys of a request. Prefill sends "
        "what has a place, with a warning; the last page keeps its last owner's keys.",
        symptom="nearly every session is corrupt, in its first turn",
        shows_in="every arm, at one session too; not with --index-topk all",
        seen_in="SGLang #27004, #18727, #23323",
    ),
    FaultDescription(
        name="decode pages freed on abort while they are written",
        switches="--decode-kv-release immediate --slow-transfer-every N --slow-transfer-s S "
        "--disaggregation-waiting-timeout less than S",
        off="--decode-kv-release deferred",
        mechanism="Decode gives up a request whose pages are late and gives its slot to the next "
        "one. The write that was under way lands in the new owner's pages.",
        symptom="errors of those that were given up, and corruption of others",
        shows_in="whatever the keys and the mirror, when slots are scarce; never at one session",
        seen_in="SGLang #27372, #35049 (deferred release), #38961",
    ),
    FaultDescription(
        name="transfer that stalls",
        switches="--stall-transfer-after N",
        off="no switch",
        mechanism="After N transfers none is carried out any more: KVPoll.WaitingForInput.",
        symptom="Requests hold slots and pages, gauges freeze, /health stays 200, /flush_cache "
        "refuses; after --disaggregation-waiting-timeout each fails. No corruption.",
        shows_in="every arm",
        seen_in="SGLang #28651, #31800, #11648",
    ),
    FaultDescription(
        name="scheduler stall",
        switches="--stall-scheduler-after-steps N --stall-scheduler-s S",
        off="no switch",
        mechanism="The scheduler's thread stands still in the middle of a step.",
        symptom="Nothing moves, /health fails with SGLang's line, --soft-watchdog-timeout writes "
        "one, --watchdog-timeout ends the process. No corruption.",
        shows_in="every arm",
        seen_in="SGLang #26923 (collective deadlock), #30033",
    ),
    FaultDescription(
        name="opener not held back",
        switches="--no-parser-hold-back",
        off="--parser-hold-back",
        mechanism="The parser looks for the opener of a call in each piece of text alone; it comes "
        "in several.",
        symptom="every streamed call leaks whole, whatever the parser",
        shows_in="every arm with stream: true, at one session too; never with stream: false",
        seen_in="SGLang #40236 (malformed and split markup); the model's text is right",
    ),
    FaultDescription(
        name="SGLang's parser",
        switches="--parser sglang",
        off="--parser strict",
        mechanism="Streamed, it reads invoke by invoke and drops what it still holds at the end; "
        "not streamed, a section counts if it is whole.",
        symptom="none with right text; bad text is a call, a leak or nothing, by mode",
        shows_in="every arm that has another fault: compare stream: true with stream: false",
        seen_in="SGLang's DeepSeek-V4 detector, #40236, #35736",
    ),
    FaultDescription(
        name="detokenizer table too small",
        switches="--detokenizer-max-states N",
        off="--detokenizer-max-states 65536",
        mechanism="Of more than N answers at a time the detokenizer forgets the oldest and goes on "
        "with an empty state.",
        symptom="names lose their underscore, marks their closing form: leaks",
        shows_in="every arm with more than N answers at a time; never at one session",
        seen_in="SGLang #2812 (evicted states), #12205 (state kept from an earlier answer)",
    ),
    FaultDescription(
        name="slow leak of decode slots",
        switches="--leak-slot-every N",
        off="no switch",
        mechanism="Every Nth decode slot that ought to be given back is not.",
        symptom="ever fewer requests decode at a time, then none: timeouts without an error line",
        shows_in="every arm that lasts long enough",
        seen_in="SGLang #36333 (requests of clients that have left live on), #28651",
    ),
    FaultDescription(
        name="server that dies",
        switches="--die-after-steps N --die-as exception|killed --die-side prefill|decode",
        off="no switch",
        mechanism="In step N+1 the scheduler hits an exception, or the process gets SIGKILL. Of a "
        "router with two servers, all three end.",
        symptom="connections break; no corruption",
        shows_in="every arm",
        seen_in="any stack",
    ),
)


def faults_text() -> str:
    return "\n".join(_paragraph(fault) for fault in FAULTS)


def _paragraph(fault: FaultDescription) -> str:
    lines = [f"{fault.name}"]
    for label, text in (
        ("on", fault.switches),
        ("off", fault.off),
        ("does", fault.mechanism),
        ("follows", fault.symptom),
        ("shows in", fault.shows_in),
        ("seen in", fault.seen_in),
    ):
        lines += textwrap.wrap(
            text, _WIDTH, initial_indent=f"  {label:9}", subsequent_indent=" " * 11
        )
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="decisive testbed faults", description="What can be switched on, and where it shows."
    )
    parser.add_argument("--json", action="store_true", help="one JSON array on standard output")
    if parser.parse_args(argv).json:
        sys.stdout.write(json.dumps([asdict(fault) for fault in FAULTS], ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(faults_text())
    return 0
