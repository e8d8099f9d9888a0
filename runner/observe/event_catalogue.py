"""The log lines that mean something, as data: pattern, kind, class, source of the wording."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventPattern:
    """One kind of line. Groups `rid` and `room`, where present, name the request it speaks of."""

    kind: str
    event_class: str
    pattern: re.Pattern[str]
    source: str


_REQUEST = (
    r"(?:[^\n]*?\brid='(?P<rid>[^']*)')?"
    r"(?:[^\n]*?\b(?:bootstrap_room=|Request )(?P<room>\d+))?"
)

EVENT_PATTERNS: tuple[EventPattern, ...] = (
    EventPattern(
        "pd_waiting_timeout",
        "wedge",
        re.compile(rf"^(?=.*\btimed out after [\d.]+s in KVPoll\.WaitingForInput){_REQUEST}"),
        "SGLang srt/disaggregation/common/conn.py",
    ),
    EventPattern(
        "pd_aborted",
        "wedge",
        re.compile(rf"^(?=.*\bAborted by AbortReq\.){_REQUEST}"),
        "SGLang srt/disaggregation/common/conn.py",
    ),
    EventPattern(
        "pd_transfer_failed",
        "wedge",
        re.compile(
            rf"^(?=.*\b(?:Prefill|Decode) (?:transfer|bootstrap|handshake) failed for request)"
            rf"{_REQUEST}"
        ),
        "SGLang srt/disaggregation/{prefill,decode}.py",
    ),
    EventPattern(
        "client_gone",
        "benign",
        re.compile(
            r"Request is disconnected from the client side[^\n]*?"
            r"(?:rid=['\"]?(?P<rid>[\w-]+))"
        ),
        "SGLang srt/managers/tokenizer_manager.py",
    ),
    EventPattern(
        "watchdog_timeout",
        "wedge",
        re.compile(r"(?:Scheduler )?[Ww]atchdog timeout \(self\.watchdog_timeout=[^)]*soft=False"),
        "SGLang srt/utils/watchdog.py",
    ),
    EventPattern(
        "health_check_failed",
        "slow",
        re.compile(r"Health check failed\. Server couldn't get a response"),
        "SGLang srt/entrypoints/http_server.py",
    ),
    EventPattern(
        "scheduler_exception",
        "crash",
        re.compile(r"Scheduler hit an exception"),
        "SGLang srt/managers/scheduler.py",
    ),
    EventPattern(
        "flush_refused",
        "pressure",
        re.compile(r"Cache not flushed because there are pending requests"),
        "SGLang srt/managers/scheduler.py",
    ),
    EventPattern(
        "retracted",
        "pressure",
        re.compile(r"KV cache pool is full\. Retract requests"),
        "SGLang srt/managers/scheduler.py",
    ),
)
