"""A campaign as values: arms, workload, schedule, hypotheses; knows nothing of files or stacks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import exp
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    Tag,
    model_serializer,
)

from db.vocabulary import ClaimKind, Outcome
from runner.campaign.file_shape import MAX_BLOCKS, MAX_SEED, LevelValue, RequestFields, Shape
from runner.campaign.prediction import Prediction

Levels: TypeAlias = Mapping[str, LevelValue]  # factor -> level, in the order of the file's factors

CONCURRENCY = "concurrency"
SCENARIO_PATH = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"


class ScenarioName(StrEnum):
    TOOL_DIALOGUE = "tool-dialogue"
    PROBE = "probe"
    LONG_CONTEXT = "long-context"
    REPLAY = "replay"


def scenario_file(path: str) -> str:
    """Where `package.module:name` would lie beside the campaign file."""
    return f"{path.partition(':')[0].replace('.', '/')}.py"


class ToolChoice(StrEnum):
    """What a probe tells the server: to call any tool, or the one that is due."""

    REQUIRED = "required"
    NAMED = "named"


class ReplayContext(StrEnum):
    """What stands before a replayed request: what was recorded, or what this server answered."""

    RECORDED = "recorded"
    LIVE = "live"


class RestartPolicy(StrEnum):
    EVERY_RUN = "every_run"
    WHEN_NEEDED = "when_needed"


class StopRule(StrEnum):
    """When an arm ends: after all its runs, each run at its first corrupt session, or decided.

    `decided`: as `first_corrupt`, and no further run of an arm whose hypotheses are answered.
    `two_looks`: whole runs, judged after two an arm and after four, and no further run of an arm
    that the first look answers. Arms that others are compared with play all sessions of their runs.
    """

    FIXED = "fixed"
    FIRST_CORRUPT = "first_corrupt"
    DECIDED = "decided"
    TWO_LOOKS = "two_looks"


class OnWedge(StrEnum):
    """How a campaign goes on after a wedge, once its black box is filled.

    `restart`: the run ends there, and the next one gets servers of its own. `stop`: the campaign
    ends there, so that somebody can look.
    """

    RECORD = "record"
    RESTART = "restart"
    STOP = "stop"


class Deadlines(Shape):
    """How long the client waits, in seconds; each ends a session that would hang."""

    connect_s: float = Field(default=10, gt=0, le=3_600)
    first_token_s: float = Field(default=60, gt=0, le=86_400)
    no_progress_s: float = Field(default=60, gt=0, le=86_400)
    session_s: float = Field(default=200, gt=0, le=86_400)


class ToolLatency(Shape):
    """A lognormal law: its median, and the spread of the logarithm."""

    median_ms: float = Field(gt=0, le=600_000)
    sigma: float = Field(default=1.2, ge=0, le=5)

    @property
    def mean_s(self) -> float:
        """The mean of a lognormal law is its median times exp(sigma^2 / 2)."""
        return self.median_ms / 1_000 * exp(self.sigma**2 / 2)


def _none_for_zero(value: object) -> object:
    median = value.get("median_ms") if isinstance(value, dict) else value
    return None if isinstance(median, int | float) and median == 0 else value


def _sessions_kind(value: object) -> str:
    return "<by concurrency>" if isinstance(value, Mapping) else "<everywhere>"


_Count = Annotated[int, Field(gt=0, le=1_000_000)]
_Sessions = Annotated[
    Annotated[_Count, Tag("<everywhere>")]
    | Annotated[Mapping[_Count, _Count], Tag("<by concurrency>")],
    Discriminator(_sessions_kind),
]


def _scenario_kind(value: object) -> str:
    return "<module>" if isinstance(value, str) and ":" in value else "<name>"


_Scenario = Annotated[
    Annotated[ScenarioName, Field(strict=False), Tag("<name>")]
    | Annotated[str, StringConstraints(pattern=SCENARIO_PATH, max_length=200), Tag("<module>")],
    Discriminator(_scenario_kind),
]


class ReplayFile(Shape):
    """`file` is a path beside the campaign's own file."""

    file: str = Field(min_length=1, max_length=1_000)
    context: Annotated[ReplayContext, Field(strict=False)] = ReplayContext.RECORDED


def _with_defaults_for_true(value: object) -> object:
    """`true` asks for a flood as it comes; `false` for none."""
    return {True: {}, False: None}[value] if isinstance(value, bool) else value


class EvictFlood(Shape):
    """Prompts before each run that push what its sessions ask first into the host's memory.

    `tokens`: None for a tenth more than the devices hold, as the servers tell it. `prompt_tokens`:
    None for three quarters of the longest prompt, at most 8,000. `repeats`: how often each first
    request is sent before; a cache that backs up at the second hit needs two.
    """

    tokens: int | None = Field(default=None, gt=0, le=1_000_000_000)
    prompt_tokens: int | None = Field(default=None, gt=0, le=10_000_000)
    repeats: int = Field(default=2, gt=0, le=100)


class Workload(Shape):
    """What the sessions of every run are; the same session index is the same dialogue in all."""

    scenario: _Scenario = ScenarioName.TOOL_DIALOGUE
    system: str | None = Field(default=None, min_length=1, max_length=100_000)
    tool_choice: Annotated[ToolChoice, Field(strict=False)] = ToolChoice.REQUIRED
    replay: ReplayFile | None = None
    sessions: _Sessions
    rounds: int = Field(default=4, gt=0, le=1_000)
    tools: int | None = Field(default=None, ge=1, le=16)
    strict: bool = False
    context_tokens: int = Field(default=300, ge=0, le=10_000_000)
    max_tokens: int = Field(default=2_500, gt=0, le=10_000_000)
    deadlines: Deadlines = Deadlines()
    tool_latency: Annotated[ToolLatency | None, BeforeValidator(_none_for_zero)] = None
    stream: bool = True
    arrivals_per_s: float | None = Field(default=None, ge=0.0001, le=10_000)
    evict_flood: Annotated[EvictFlood | None, BeforeValidator(_with_defaults_for_true)] = None
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    request: RequestFields = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _as_written(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What later keys are without being given is no part of what defines a campaign."""
        fields: dict[str, Any] = dump(self)
        later = {"tools": None, "strict": False}
        return {
            name: value
            for name, value in fields.items()
            if name not in later or value != later[name]
        }

    def sessions_at(self, concurrency: int) -> int:
        """Raises KeyError where the file names no number for this concurrency."""
        if isinstance(self.sessions, int):
            return self.sessions
        return self.sessions[concurrency]


class Schedule(Shape):
    blocks: int = Field(default=3, gt=0, le=MAX_BLOCKS)
    order_seed: int = Field(default=0, ge=0, le=MAX_SEED)
    restart: Annotated[RestartPolicy, Field(strict=False)] = RestartPolicy.EVERY_RUN


@dataclass(frozen=True, slots=True)
class Arm:
    """One choice of levels. `sessions` is the number in one run."""

    name: str
    levels: Levels = field(hash=False)
    concurrency: int
    sessions: int
    tag: str | None
    is_baseline: bool
    position: int


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One arm in one block; `position` counts through the whole campaign."""

    arm: Arm
    block: int
    position: int
    run_key: str


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """`arm` and `versus` name a level of every factor; `tolerate` is a rate, and so is
    `predicted_rate`, which a claim to `reduce` has and no other.
    """

    id: str
    claim: str
    arm: Levels
    versus: Levels
    predict: Prediction
    tolerate: float
    goal: ClaimKind = ClaimKind.ELIMINATE
    predicted_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Campaign:
    name: str
    question: str
    stack: str
    factors: Mapping[str, tuple[LevelValue, ...]]
    tags: Mapping[str, Mapping[str, str]]  # factor -> text of the level -> tag
    exclude: tuple[Levels, ...]
    baseline: Levels | None
    known_good: Levels | None  # the arm whose corrupt sessions are the background
    workload: Workload
    schedule: Schedule
    corrupt: tuple[Outcome, ...]
    stop: StopRule
    on_wedge: OnWedge
    longest_pause_s: float | None  # None: by the deadlines of the workload
    notify: tuple[str, ...]  # a command and its arguments; empty: nobody is told
    hypotheses: tuple[Hypothesis, ...]
    workload_files: Mapping[str, str]  # as the file names them -> SHA-256, in hexadecimal
    source_path: str
    source_text: str
    client_processes: int | None = None  # None: by the concurrency and this machine's cores
