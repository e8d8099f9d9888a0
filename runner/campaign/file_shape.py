"""What the shapes of all configuration files share: strictness, names, levels; no file's keys."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from runner.campaign.config_problems import raise_problems
from runner.campaign.shape_problems import problems_of
from runner.campaign.yaml_source import YamlSource

LevelValue: TypeAlias = str | int | float | bool
MAX_LEVEL_CHARACTERS = 64
MAX_BLOCKS = 10_000
MAX_SEED = 10**18  # below what the store keeps, 2**63 - 1, and easy to say
OWN_REQUEST_FIELDS = frozenset(
    {"model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens"}
)


class Shape(BaseModel):
    """Unknown keys are refused and nothing is converted: 8 is no text and "8" is no number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


S = TypeVar("S", bound=Shape)


def read_shape(shape: type[S], source: YamlSource) -> S:
    """Raises ConfigError with every misfit of the file at once."""
    try:
        return shape.model_validate(source.data)
    except ValidationError as error:
        raise_problems(source.path, problems_of(error, shape, source=source))
        raise


def level_text(level: LevelValue) -> str:
    """How a level is written and compared: 264 and "264" are one level, true is not 1."""
    return str(level).lower() if isinstance(level, bool) else str(level)


def _checked_level(value: object) -> object:
    is_finite = not isinstance(value, float) or isfinite(value)
    if not isinstance(value, str | int | float | bool) or not is_finite:
        raise PydanticCustomError("level", "a level must be a word, a number, true or false")
    text = level_text(value)
    if not text.strip() or not text.isprintable() or len(text) > MAX_LEVEL_CHARACTERS:
        raise PydanticCustomError("level", "a level must be a short printable word")
    return value


def _checked_request(fields: Mapping[str, object]) -> Mapping[str, object]:
    reserved = sorted(fields.keys() & OWN_REQUEST_FIELDS)
    if reserved:
        error = f"cannot set {', '.join(reserved)}: the scenario and the workload do"
        raise PydanticCustomError("request", "{error}", {"error": error})
    try:
        json.dumps(fields, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as not_json:
        error = "must be what JSON can say: no .inf, no .nan, no half of a \\u pair"
        raise PydanticCustomError("request", "{error}", {"error": error}) from not_json
    return fields


Level = Annotated[LevelValue, BeforeValidator(_checked_level)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
RequestFields = Annotated[Mapping[str, object], AfterValidator(_checked_request)]
