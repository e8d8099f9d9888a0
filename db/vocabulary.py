"""The closed lists of the domain: what an outcome, a state, a verdict can be, and in which order.

Everything that is stored, shown or exported takes its words from here. Nothing is decided here.
"""

from enum import StrEnum


class TurnReading(StrEnum):
    """What one answer of the server was, read by itself."""

    TOOL = "tool"
    DONE = "done"
    LEAK = "leak"
    NO_TOOL = "no_tool"
    MALFORMED = "malformed"
    ERROR = "error"
    WEDGE = "wedge"


class OutcomeClass(StrEnum):
    CLEAN = "clean"
    CORRUPT = "corrupt"
    SILENT = "silent"
    OURS = "ours"


class Outcome(StrEnum):
    """What became of a session. Members stand in the order in which the worst turn wins."""

    LEAK = "leak"
    NO_TOOL = "no_tool"
    MALFORMED = "malformed"
    WRONG = "wrong"
    DEGENERATE = "degenerate"
    ERROR = "error"
    DONE = "done"
    MAXROUNDS = "maxrounds"
    HARNESS_ERROR = "harness_error"

    @property
    def outcome_class(self) -> OutcomeClass:
        return _CLASS_OF[self]


_CLASS_OF = {
    Outcome.LEAK: OutcomeClass.CORRUPT,
    Outcome.NO_TOOL: OutcomeClass.CORRUPT,
    Outcome.MALFORMED: OutcomeClass.CORRUPT,
    Outcome.WRONG: OutcomeClass.CORRUPT,
    Outcome.DEGENERATE: OutcomeClass.CORRUPT,
    Outcome.ERROR: OutcomeClass.SILENT,
    Outcome.DONE: OutcomeClass.CLEAN,
    Outcome.MAXROUNDS: OutcomeClass.CLEAN,
    Outcome.HARNESS_ERROR: OutcomeClass.OURS,
}

CORRUPT_OUTCOMES: tuple[Outcome, ...] = tuple(
    outcome for outcome in Outcome if outcome.outcome_class is OutcomeClass.CORRUPT
)


class ErrorReason(StrEnum):
    """Why a session gave no evidence."""

    CONNECT = "connect"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    IN_BAND_ERROR = "in_band_error"
    TRUNCATED = "truncated"
    FIRST_TOKEN_TIMEOUT = "first_token_timeout"
    STALLED = "stalled"
    SESSION_TIMEOUT = "session_timeout"
    ABORTED_BY_SERVER = "aborted_by_server"
    UNREADABLE = "unreadable"


class TransportEnd(StrEnum):
    """How the bytes of one response ended."""

    CLEAN_EOF = "clean_eof"
    RESET = "reset"
    CLIENT_DEADLINE = "client_deadline"
    CONNECT_FAILED = "connect_failed"


class DueKind(StrEnum):
    """What the dialogue had a right to expect of a turn."""

    CALL = "call"
    ANSWER = "answer"


class RunState(StrEnum):
    """Where a run stands. `done` is the only end whose evidence counts."""

    PLANNED = "planned"
    APPLYING = "applying"
    VERIFYING = "verifying"
    WARMING = "warming"
    DRIVING = "driving"
    SETTLING = "settling"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    INVALID = "invalid"

    @property
    def is_terminal(self) -> bool:
        return self in _TERMINAL_RUN_STATES

    @property
    def is_active(self) -> bool:
        return not self.is_terminal and self is not RunState.PLANNED


_TERMINAL_RUN_STATES = frozenset(
    {RunState.DONE, RunState.STOPPED, RunState.FAILED, RunState.INVALID}
)


UNKNOWN_START_US = 0
"""Stands for the moment at which an imported session or turn began, where its file has none."""


class RunFlag(StrEnum):
    """What a reader of a run must know besides its counts."""

    SERVER_DIED = "server_died"
    CLIENT_SATURATED = "client_saturated"
    NOT_DRAINED = "not_drained"
    NOT_EXERCISED = "not_exercised"
    FLUSH_REFUSED = "flush_refused"
    RECORD_CAPPED = "record_capped"
    ENDED_AT_WEDGE = "ended_at_wedge"
    FOREIGN_TRAFFIC = "foreign_traffic"
    ARRIVALS_LATE = "arrivals_late"
    IMPORTED = "imported"


class RawKind(StrEnum):
    REQUEST = "request"
    RESPONSE = "response"
    SERVICE_LOG = "service_log"
    SCRAPE = "scrape"
    SERVER_INFO = "server_info"
    # What the black box keeps, once for each wedge.
    WEDGE_METRICS = "wedge_metrics"
    WEDGE_SERVER_INFO = "wedge_server_info"
    WEDGE_LOADS = "wedge_loads"
    WEDGE_LOG_TAIL = "wedge_log_tail"
    WEDGE_IN_FLIGHT = "wedge_in_flight"
    WEDGE_STACKS = "wedge_stacks"
    WEDGE_GPU = "wedge_gpu"


class LaunchRequestState(StrEnum):
    QUEUED = "queued"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class ClaimKind(StrEnum):
    """What a hypothesis says of its arm.

    `eliminate`: the fault is gone. `reduce`: it is rarer. `cause`: it is gone without this level;
    judged as `eliminate`.
    """

    ELIMINATE = "eliminate"
    REDUCE = "reduce"
    CAUSE = "cause"


class Headline(StrEnum):
    CONFIRMED = "confirmed"
    IMPROVED_NOT_ELIMINATED = "improved_not_eliminated"
    WORSE = "worse"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class Elimination(StrEnum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class Direction(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"
    UNCLEAR = "unclear"


class Availability(StrEnum):
    WORSE = "worse"
    NOT_SHOWN_WORSE = "not_shown_worse"
