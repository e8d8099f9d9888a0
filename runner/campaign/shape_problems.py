"""From the misfits that pydantic finds to problems with a place and words; knows no file's keys."""

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from runner.campaign.config_problems import Problem, shown
from runner.campaign.yaml_source import YamlSource
from runner.campaign.yaml_values import KeyPath

_WHAT = {
    "string_type": "must be text, in quotes if need be",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "mapping_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be made of letters, digits, '.', '_' and '-'",
    "finite_number": "must be a finite number",
    "literal_error": "is not known here",
    "enum": "is not known here",
}
# The patterns that are not those of a name, by what they begin with.
_OF_PATTERN = {
    "^[A-Za-z_]\\w*(\\.": "must be the path of a scenario, such as my_package.my_module:MyScenario",
    "^https?://": "must be http://HOST:PORT or https://..., without a password and a last slash",
    "^/": "must be a path that begins with /, without blanks",
    "^[A-Za-z_]": "must be the name of an environment variable",
    "^[A-Za-z0-9!#": "must be the name of an HTTP header",
    "^[A-Za-z0-9:_.": "must be the name of a unit that ends with .service",
}
_MAY_HOLD_A_PASSWORD = "^https?://"
_SHOWS_NOTHING_FOUND = {"too_short", "string_too_short"}
_NUMBER_KINDS = {"int_type", "float_type"}
_IS_KEY = "[key]"


def problems_of(
    error: ValidationError, shape: type[BaseModel], *, source: YamlSource
) -> list[Problem]:
    return [_problem_of(details, shape, source) for details in error.errors()]


def _problem_of(details: ErrorDetails, shape: type[BaseModel], source: YamlSource) -> Problem:
    kind, location = details["type"], details["loc"]
    path = _path_in(source, location)
    if kind == "missing":
        name = _dotted((*path, str(location[-1])))
        return Problem(source.place_of_key(path), f"the key {name} is missing")
    if kind == "extra_forbidden":
        allowed = keys_at(shape, location[:-1])
        return Problem(source.place_of_key(path), "unknown key", path[-1], allowed)
    place = source.place_of_key(path) if _IS_KEY in location else source.place_of_value(path)
    is_silent = kind in _SHOWS_NOTHING_FOUND or _pattern_of(details) == _MAY_HOLD_A_PASSWORD
    found = None if is_silent else _found(kind, details["input"])
    return Problem(place, f"{_dotted(path)} {_what(details)}", found, _allowed(details))


def keys_at(shape: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """The keys that the mapping at `location` may have."""
    annotation: Any = shape
    for part in location:
        annotation = _inner(annotation, part)
    models = _models_in(annotation)
    return list(models[0].model_fields) if models else []


def _path_in(source: YamlSource, location: Sequence[str | int]) -> KeyPath:
    """`location` without what names no place in the file, such as the branch of a union."""
    path: KeyPath = ()
    for part in location:
        if (*path, str(part)) in source.values:
            path = (*path, str(part))
    return path


def _what(details: ErrorDetails) -> str:
    context = details.get("ctx", {})
    template = _OF_PATTERN.get(_pattern_of(details) or "", _WHAT.get(details["type"]))
    if template is None:
        return str(context.get("error", details["msg"]))
    return template.format(**context)


def _pattern_of(details: ErrorDetails) -> str | None:
    """The beginning that `_OF_PATTERN` knows, if the misfit is one of a pattern."""
    pattern = str(details.get("ctx", {}).get("pattern", ""))
    return next((known for known in _OF_PATTERN if pattern.startswith(known)), None)


def _found(kind: str, value: object) -> str:
    """Text where a number was meant is quoted, so that the quotes are seen to be the mistake."""
    is_quoted = isinstance(value, str) and kind in _NUMBER_KINDS and not value.isalpha()
    return f'"{shown(value)}"' if is_quoted else shown(value)


def _allowed(details: ErrorDetails) -> list[str]:
    if details["type"] == "bool_type":
        return ["true", "false"]
    if details["type"] not in ("literal_error", "enum"):
        return []
    expected = str(details["ctx"]["expected"])
    return [word.strip(" '") for word in expected.replace(" or ", ", ").split(",")]


def _dotted(path: KeyPath) -> str:
    return ".".join(path)


def _inner(annotation: Any, part: str | int) -> Any:
    for model in _models_in(annotation):
        if part in model.model_fields:
            return model.model_fields[str(part)].annotation
    return annotation


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models_in(argument)]
