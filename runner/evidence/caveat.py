"""One thing that a reader must know beside a verdict."""

from dataclasses import dataclass
from enum import StrEnum


class CaveatKind(StrEnum):
    EXPLORATORY = "exploratory"
    INTERIM = "interim"
    EXTENDED = "extended"
    SEVERAL_HYPOTHESES = "several_hypotheses"
    ORDER_NOT_RANDOMISED = "order_not_randomised"
    HISTORICAL_CONTROL = "historical_control"
    SHARED_LAUNCHES = "shared_launches"
    RESTARTS_NOT_SHOWN = "restarts_not_shown"
    RUNS_DIFFER = "runs_differ"
    IMPLIED_SETTINGS = "implied_settings"
    BACKGROUND = "background"
    STOPPED_EARLY = "stopped_early"
    SHUFFLED_BLOCKS = "shuffled_blocks"
    MOSTLY_SILENT = "mostly_silent"
    SURPLUS_LEFT_OUT = "surplus_left_out"
    WEDGES_LEFT_OPEN = "wedges_left_open"
    WEDGE_SIGNS = "wedge_signs"
    HARNESS_ERRORS = "harness_errors"
    UNCOUNTED_OUTCOMES = "uncounted_outcomes"
    EARLIER_CAMPAIGNS = "earlier_campaigns"
    SERVER_DIED = "server_died"
    NOT_DRAINED = "not_drained"
    FLUSH_REFUSED = "flush_refused"
    RECORD_CAPPED = "record_capped"
    FOREIGN_TRAFFIC = "foreign_traffic"
    ARRIVALS_LATE = "arrivals_late"


@dataclass(frozen=True, slots=True)
class Caveat:
    kind: CaveatKind
    text: str
