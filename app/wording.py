"""The words and number formats of the pages, so that one thing has one name everywhere.

How rates and intervals are written comes from `runner.evidence.wording`; here is what only pages
need.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.markdown_text import badge
from app.palette import (
    CLASS_HUES,
    CLASS_ICONS,
    HEADLINE_HUES,
    HEADLINE_ICONS,
    STATE_ICONS,
)
from db.vocabulary import Headline, Outcome, RunFlag, RunState
from runner.evidence.counts import SessionCounts
from runner.evidence.wording import (
    NO_KNOWN_TIME,
    corrupt_text,
    count_text,
    duration_text,
    moment_of,
    moment_text,
    rounded,
)

SECOND_US = 1_000_000
_DAY_S = 86_400

_FLAG_WORDS: dict[str, str] = {
    RunFlag.SERVER_DIED: "the server died",
    RunFlag.CLIENT_SATURATED: "the client was saturated",
    RunFlag.NOT_DRAINED: "the server did not drain",
    RunFlag.NOT_EXERCISED: "a factor was not exercised",
    RunFlag.FLUSH_REFUSED: "the cache flush was refused",
    RunFlag.RECORD_CAPPED: "a record was cut at its limit",
    RunFlag.ENDED_AT_WEDGE: "it was ended at a wedge",
    RunFlag.FOREIGN_TRAFFIC: "others used the server meanwhile",
    RunFlag.ARRIVALS_LATE: "sessions began late",
    RunFlag.IMPORTED: "another tool made it",
}

_REASON_WORDS = {
    "connect": "no connection",
    "first_token_timeout": "no first token in time",
    "stalled": "no progress in time",
    "session_timeout": "session deadline",
    "aborted_by_server": "aborted by the server",
    "in_band_error": "error inside the stream",
    "truncated": "cut off",
    "unreadable": "unreadable answer",
    "http_4xx": "HTTP 4xx",
    "http_5xx": "HTTP 5xx",
}


def outcome_word(outcome: str) -> str:
    return outcome.replace("_", " ")


def outcome_badge(outcome: str) -> str:
    found = Outcome(outcome).outcome_class
    return badge(outcome_word(outcome), colour=CLASS_HUES[found], icon=CLASS_ICONS[found])


def state_badge(state: RunState) -> str:
    return badge(state.value, colour="gray", icon=STATE_ICONS[state])


def headline_badge(headline: str, *, label: str = "", is_final: bool = True) -> str:
    """`is_final`: no run is outstanding that could still change it."""
    known = Headline(headline)
    words = f"{label} {headline_so_far(headline, is_final=is_final)}".strip()
    return badge(words, colour=HEADLINE_HUES[known], icon=HEADLINE_ICONS[known])


def headline_so_far(headline: str, *, is_final: bool) -> str:
    """`refuted`, or `refuted so far`: the same as long as runs are outstanding."""
    return headline_words(headline) + ("" if is_final else " so far")


def headline_words(headline: str) -> str:
    if headline == Headline.IMPROVED_NOT_ELIMINATED:
        return "improved, not eliminated"
    return headline


def reason_words(reason: str) -> str:
    return _REASON_WORDS.get(reason, reason.replace("_", " "))


def flag_words(flags: Iterable[str]) -> str:
    """What a reader must know besides the counts, in one clause; "" where there is nothing."""
    return ", ".join(_FLAG_WORDS.get(flag, flag.replace("_", " ")) for flag in flags)


def levels_text(levels: Mapping[str, object], *, without: Iterable[str] = ()) -> str:
    """`index_keys bf16 · hicache on`, in the order of the file."""
    left_out = set(without)
    return " · ".join(
        f"{factor} {level}" for factor, level in levels.items() if factor not in left_out
    )


def until_decided_words(most_blocks: int) -> str:
    return f"until decided, at most {counted_noun(most_blocks, 'block')}"


def span_text(numbers: Iterable[int]) -> str:
    """`20`, or `10 to 80`. Raises ValueError for none."""
    known = sorted(numbers)
    first, last = count_text(known[0]), count_text(known[-1])
    return first if first == last else f"{first} to {last}"


class CorruptWords(NamedTuple):
    """`12/80` and `15.0 % [8.8–24.4]`, or `0/80` and `≤ 4.6 %`."""

    fraction: str
    rate: str


def corrupt_words(counts: SessionCounts) -> CorruptWords:
    fraction, _, rate = corrupt_text(counts).partition("  ")
    return CorruptWords(fraction, rate)


def seconds_text(seconds: float | None, *, places: int = 1) -> str:
    return "–" if seconds is None else f"{rounded(seconds, places)} s"


def offset_text(seconds: float) -> str:
    """`+84.9 s`, from the first request of the run."""
    return ("+" if seconds >= 0 else "") + seconds_text(seconds)


def ago_text(at_us: int, *, now_us: int) -> str:
    """`2.0 s ago`; the moment itself from a day on."""
    age_s = max(0.0, (now_us - at_us) / SECOND_US)
    return f"{duration_text(age_s)} ago" if age_s < _DAY_S else f"on {moment_text(at_us)}"


def clock_text(at_us: int) -> str:
    at = moment_of(at_us)
    return NO_KNOWN_TIME if at is None else f"{at:%H:%M:%S}"


def counted_noun(count: int, one: str, many: str | None = None) -> str:
    """`1 run`, `2,304 sessions`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def bytes_text(size: int) -> str:
    """`812 B`, `1.5 kB`, `3.2 MB`."""
    if size < 1_000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{rounded(size / 1_000)} kB"
    return f"{rounded(size / 1_000_000)} MB"
