"""The address is the state: how each page's address is read and written; knows no store.

An unknown value never fails: the default stands in and a sentence says what was ignored. Parameters
that a page does not own are left alone, for the browser's Back brings foreign ones along.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

from db.identifiers import IdKind, format_id, parse_id


class Metric(StrEnum):
    """What the matrix colours."""

    CORRUPT = "corrupt"
    SILENT = "silent"
    WEDGES = "wedges"
    TTFT = "ttft"


class ReportForm(StrEnum):
    """What a report is exported as; `sglang` and `vllm` are Markdown for the project's bug form."""

    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    SGLANG = "sglang"
    VLLM = "vllm"
    CSV = "csv"
    PARQUET = "parquet"
    BUNDLE = "bundle"

    @property
    def is_document(self) -> bool:
        """It is one text for people, not the data that it is made from."""
        return self not in (ReportForm.CSV, ReportForm.PARQUET, ReportForm.BUNDLE)


class Withheld(StrEnum):
    """What is taken out of a report besides keys."""

    NOTHING = "nothing"
    HOSTS = "hosts"
    PROMPTS = "prompts"
    BOTH = "hosts-and-prompts"


class ConfigView(StrEnum):
    """How much of two configurations is shown side by side."""

    DIFFERENCES = "differences"
    ALL = "all"


def _ids(kind: IdKind) -> dict[str, Callable[[Any], object]]:
    def read(text: str) -> int:
        row_id = parse_id(kind, text)
        if row_id is None:
            raise ValueError(text)
        return row_id

    return {"read": read, "write": lambda row_id: format_id(kind, row_id)}


def _words(kind: type[StrEnum]) -> dict[str, Callable[[Any], object]]:
    return {"read": kind, "write": str}


class ComparedId(NamedTuple):
    """One side of a comparison: an arm, a run or a session."""

    kind: IdKind
    row: int


def _compared() -> dict[str, Callable[[Any], object]]:
    def read(text: str) -> ComparedId:
        for kind in (IdKind.ARM, IdKind.RUN, IdKind.SESSION):
            row_id = parse_id(kind, text)
            if row_id is not None:
                return ComparedId(kind, row_id)
        raise ValueError(text)

    return {"read": read, "write": lambda side: format_id(*side)}


_COMPARED = _compared()
_CAMPAIGNS = _ids(IdKind.CAMPAIGN)
_ARMS = _ids(IdKind.ARM)
_RUNS = _ids(IdKind.RUN)
_SESSIONS = _ids(IdKind.SESSION)
_HYPOTHESES = _ids(IdKind.HYPOTHESIS)
_NAMES: dict[str, Callable[[Any], object]] = {"read": str, "write": str}


def _seconds() -> dict[str, Callable[[Any], object]]:
    def read(text: str) -> float:
        seconds = float(text)
        if not -1e9 < seconds < 1e9:
            raise ValueError(text)
        return round(seconds, 1)

    return {"read": read, "write": lambda seconds: f"{seconds:g}"}


_SECONDS = _seconds()


@dataclass(frozen=True, slots=True)
class CampaignsPlace:
    path: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class OverviewPlace:
    path: ClassVar[str] = "overview"
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)


@dataclass(frozen=True, slots=True)
class MatrixPlace:
    """`rows`, `cols` and `facet` are names of factors; `pick` is the cell that was taken first."""

    path: ClassVar[str] = "matrix"
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)
    arm: int | None = field(default=None, metadata=_ARMS)
    metric: Metric = field(default=Metric.CORRUPT, metadata=_words(Metric))
    rows: str | None = field(default=None, metadata=_NAMES)
    cols: str | None = field(default=None, metadata=_NAMES)
    facet: str | None = field(default=None, metadata=_NAMES)
    pick: int | None = field(default=None, metadata=_ARMS)


@dataclass(frozen=True, slots=True)
class ArmPlace:
    """`q` is a filter of sessions, here and in the places below."""

    path: ClassVar[str] = "arm"
    arm: int | None = field(default=None, metadata=_ARMS)
    q: str = field(default="", metadata=_NAMES)


@dataclass(frozen=True, slots=True)
class VerdictsPlace:
    path: ClassVar[str] = "verdicts"
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)
    hypothesis: int | None = field(default=None, metadata=_HYPOTHESES)


@dataclass(frozen=True, slots=True)
class RunPlace:
    path: ClassVar[str] = "run"
    run: int | None = field(default=None, metadata=_RUNS)
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)
    q: str = field(default="", metadata=_NAMES)
    series: str | None = field(default=None, metadata=_NAMES)


@dataclass(frozen=True, slots=True)
class LogsPlace:
    """`start` and `end` are seconds since the run's first request; `q` is a filter of events."""

    path: ClassVar[str] = "logs"
    run: int | None = field(default=None, metadata=_RUNS)
    q: str = field(default="", metadata=_NAMES)
    start: float | None = field(default=None, metadata=_SECONDS)
    end: float | None = field(default=None, metadata=_SECONDS)


@dataclass(frozen=True, slots=True)
class SessionsPlace:
    path: ClassVar[str] = "sessions"
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)
    q: str = field(default="", metadata=_NAMES)


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """`q` names the list in which J and K step; without it, that of the session's run."""

    path: ClassVar[str] = "session"
    session: int | None = field(default=None, metadata=_SESSIONS)
    q: str = field(default="", metadata=_NAMES)


@dataclass(frozen=True, slots=True)
class ComparePlace:
    path: ClassVar[str] = "compare"
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)
    a: ComparedId | None = field(default=None, metadata=_COMPARED)
    b: ComparedId | None = field(default=None, metadata=_COMPARED)
    config: ConfigView = field(default=ConfigView.DIFFERENCES, metadata=_words(ConfigView))


def comparison_of(kind: IdKind, a: int, b: int) -> ComparePlace:
    """Two of a kind side by side."""
    return ComparePlace(a=ComparedId(kind, a), b=ComparedId(kind, b))


@dataclass(frozen=True, slots=True)
class NewPlace:
    path: ClassVar[str] = "new"
    file: str | None = field(default=None, metadata=_NAMES)


@dataclass(frozen=True, slots=True)
class ReportPlace:
    """On a campaign; on an arm of it, compared with `versus` where named; or on a session."""

    path: ClassVar[str] = "report"
    campaign: int | None = field(default=None, metadata=_CAMPAIGNS)
    arm: int | None = field(default=None, metadata=_ARMS)
    versus: int | None = field(default=None, metadata=_ARMS)
    session: int | None = field(default=None, metadata=_SESSIONS)
    form: ReportForm = field(default=ReportForm.MARKDOWN, metadata=_words(ReportForm))
    without: Withheld = field(default=Withheld.NOTHING, metadata=_words(Withheld))


@dataclass(frozen=True, slots=True)
class SystemPlace:
    path: ClassVar[str] = "system"


Place = (
    CampaignsPlace
    | OverviewPlace
    | MatrixPlace
    | ArmPlace
    | VerdictsPlace
    | RunPlace
    | LogsPlace
    | SessionsPlace
    | SessionPlace
    | ComparePlace
    | NewPlace
    | ReportPlace
    | SystemPlace
)
P = TypeVar("P", bound=Place)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[P]):
    """A place, and what was said about parameters that could not be read."""

    place: P
    ignored: tuple[str, ...] = ()


def read_place(kind: type[P], parameters: Mapping[str, str]) -> Parsed[P]:
    """The place that `parameters` name; never raises."""
    found: dict[str, Any] = {}
    ignored: list[str] = []
    for parameter in fields(kind):
        text = parameters.get(parameter.name)
        if text is None:
            continue
        try:
            found[parameter.name] = parameter.metadata["read"](text)
        except ValueError:
            ignored.append(f"{parameter.name}={text[:60]}")
    return Parsed(kind(**found), tuple(ignored))


def query_of(place: Place) -> dict[str, str]:
    """The parameters that say what differs from the page's default."""
    query = {}
    for parameter in fields(place):
        value = getattr(place, parameter.name)
        if value is not None and value != parameter.default:
            query[parameter.name] = parameter.metadata["write"](value)
    return query


def address_of(place: Place) -> str:
    """Path and query, from the root of the dashboard."""
    query = urlencode(query_of(place))
    return f"/{place.path}" + (f"?{query}" if query else "")
