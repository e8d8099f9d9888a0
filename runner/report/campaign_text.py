"""A campaign file without what it has the client say; pure.

It is written anew from its values, so that its comments are left out too: they may quote a prompt.
"""

import json
from io import StringIO

from ruamel.yaml import YAML

from runner.campaign.yaml_source import parse_yaml
from runner.campaign.yaml_values import PlainData
from runner.errors import ConfigError
from runner.report.redaction import hidden_text

_WIDTH = 100


def without_prompts(source_text: str) -> str | None:
    """None for a text that cannot be read as YAML: what in it is a prompt is not known then."""
    try:
        data = parse_yaml("campaign", source_text).data
    except ConfigError:
        return None
    if "workload" in data:
        data = {**data, "workload": _quiet(data["workload"])}
    return _written(data)


def _quiet(workload: PlainData) -> PlainData:
    if not isinstance(workload, dict):
        return _hidden(workload)
    told: dict[object, PlainData] = dict(workload)
    if "system" in told:
        told["system"] = _hidden(told["system"])
    if "request" in told:
        request = told["request"]
        told["request"] = (
            {name: _hidden(value) for name, value in request.items()}
            if isinstance(request, dict)
            else _hidden(request)
        )
    return told


def _hidden(value: PlainData) -> PlainData:
    """Numbers and switches stay: a temperature is no prompt."""
    if value is None or isinstance(value, int | float):
        return value
    return hidden_text(value if isinstance(value, str) else json.dumps(value, default=str))


def _written(data: PlainData) -> str:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.allow_unicode = True
    yaml.width = _WIDTH
    file = StringIO()
    yaml.dump(_listed(data), file)
    return file.getvalue()


def _listed(value: PlainData) -> object:
    if isinstance(value, dict):
        return {key: _listed(child) for key, child in value.items()}
    if isinstance(value, tuple):
        return [_listed(child) for child in value]
    return value
