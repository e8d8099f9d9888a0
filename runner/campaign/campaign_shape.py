"""The keys of a campaign file and the kinds of their values; knows not whether names fit together.

The keys are documented in configs/README.md.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from db.vocabulary import ClaimKind, Outcome
from runner.campaign.campaign import OnWedge, Schedule, StopRule, Workload
from runner.campaign.file_shape import Level, LevelValue, Name, Shape, Text, level_text

DEFAULT_CORRUPT = (Outcome.LEAK, Outcome.MALFORMED, Outcome.DEGENERATE)

LevelChoice: TypeAlias = Mapping[Name, Level]
Tags: TypeAlias = Mapping[str, str]


class LevelOptions(Shape):
    tag: Name | None = None


def _factor_kind(value: object) -> str:
    return "<with options>" if isinstance(value, Mapping) else "<levels>"


def _versus_kind(value: object) -> str:
    return "<levels>" if isinstance(value, Mapping) else "<baseline>"


_Factor = Annotated[
    Annotated[tuple[Level, ...], Field(min_length=1, max_length=1_000), Tag("<levels>")]
    | Annotated[
        Mapping[Level, LevelOptions | None],
        Field(min_length=1, max_length=1_000),
        Tag("<with options>"),
    ],
    Discriminator(_factor_kind),
]
_Versus = Annotated[
    Annotated[Literal["baseline"], Tag("<baseline>")] | Annotated[LevelChoice, Tag("<levels>")],
    Discriminator(_versus_kind),
]


def _processes_kind(value: object) -> str:
    return "<auto>" if isinstance(value, str) else "<number>"


_Processes = Annotated[
    Annotated[Literal["auto"], Tag("<auto>")] | Annotated[int, Field(gt=0, le=64), Tag("<number>")],
    Discriminator(_processes_kind),
]


class HypothesisShape(Shape):
    id: Name
    claim: Text
    arm: LevelChoice
    versus: _Versus = "baseline"
    predict: Text
    tolerate: float = Field(default=0.05, gt=0, lt=1)
    goal: Annotated[ClaimKind, Field(strict=False)] = ClaimKind.ELIMINATE
    predicted_rate: float | None = Field(default=None, gt=0, lt=1)


class CampaignShape(Shape):
    campaign: Name
    question: Text
    stack: Name
    factors: Mapping[Name, _Factor] = Field(min_length=1)
    exclude: tuple[Annotated[LevelChoice, Field(min_length=1)], ...] = ()
    baseline: LevelChoice | None = None
    known_good: LevelChoice | None = None
    workload: Workload
    schedule: Schedule = Schedule()
    corrupt: tuple[Name, ...] = Field(default=DEFAULT_CORRUPT, min_length=1)
    stop: Annotated[StopRule, Field(strict=False)] = StopRule.FIXED
    on_wedge: Annotated[OnWedge, Field(strict=False)] = OnWedge.RECORD
    longest_pause_s: float | None = Field(default=None, ge=1, le=86_400)
    notify: tuple[Text, ...] = ()
    client_processes: _Processes = "auto"
    hypotheses: tuple[HypothesisShape, ...] = ()


def tags_of(factor: tuple[LevelValue, ...] | Mapping[LevelValue, LevelOptions | None]) -> Tags:
    """Tag by the text of the level; the levels of a plain list have none."""
    if not isinstance(factor, Mapping):
        return {}
    tagged = ((level, options.tag) for level, options in factor.items() if options is not None)
    return {level_text(level): tag for level, tag in tagged if tag is not None}
