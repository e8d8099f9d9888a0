"""The keys of a stack file and the kinds of their values; knows not whether they fit together.

The keys are documented in configs/README.md.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from runner.campaign.file_shape import Level, Name, RequestFields, Shape, Text

PLACEHOLDERS = ("{python}", "{port}")


class ControllerName(StrEnum):
    """Who starts a service: we, as a child process, or somebody else."""

    PROCESS = "process"
    EXTERNAL = "external"


class MetricsDialect(StrEnum):
    """Whose names the metrics have. `auto`: told by the names; `other`: as the file maps them."""

    SGLANG = "sglang"
    VLLM = "vllm"
    LLAMA_CPP = "llama.cpp"
    TENSORRT_LLM = "tensorrt-llm"
    DYNAMO = "dynamo"
    AUTO = "auto"
    OTHER = "other"


class MetricRole(StrEnum):
    """What a number of the metrics means, whatever a stack calls it."""

    RUNNING = "running"
    QUEUE = "queue"
    PREFILL_BOOTSTRAP = "prefill_bootstrap"
    PREFILL_INFLIGHT = "prefill_inflight"
    DECODE_PREALLOC = "decode_prealloc"
    DECODE_TRANSFER = "decode_transfer"
    GRAMMAR_QUEUE = "grammar_queue"
    GEN_THROUGHPUT = "gen_throughput"
    TOKEN_USAGE = "token_usage"
    GENERATION_TOKENS = "generation_tokens_total"
    PROMPT_TOKENS = "prompt_tokens_total"
    REQUESTS = "requests_total"


class LogSource(StrEnum):
    """`process`: what the service writes on its standard output and standard error.

    `file`: a file that it appends to. `command`: what a command prints that follows its log.
    """

    PROCESS = "process"
    FILE = "file"
    COMMAND = "command"
    NONE = "none"


def _with_known_placeholders(text: str) -> str:
    for placeholder in re.findall(r"\{[^{}]*\}", text):
        if placeholder not in PLACEHOLDERS:
            error = f"has an unknown placeholder; allowed: {', '.join(PLACEHOLDERS)}"
            raise PydanticCustomError("placeholder", "{error}", {"error": error})
    return text


def _checked_port(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if value != "free" and not (is_number and 1 <= int(str(value)) <= 65_535):
        error = "must be a port from 1 to 65535, or the word free"
        raise PydanticCustomError("port", "{error}", {"error": error})
    return value


_Template = Annotated[str, AfterValidator(_with_known_placeholders)]
_Port = Annotated[int | Literal["free"], BeforeValidator(_checked_port)]
_UrlPath = Annotated[str, StringConstraints(pattern=r"^/\S*$")]
_BaseUrl = Annotated[_Template, StringConstraints(pattern=r"^https?://\S+[^/\s]$")]
_EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class MetricsEndpoint(Shape):
    """With the dialect `other`, `names` says which series has which role.

    `progress` are counters that move while tokens are made, `engine_labels` tell engines apart,
    `repeated_labels` tell ranks apart that export the same numbers.
    """

    path: _UrlPath = "/metrics"
    dialect: Annotated[MetricsDialect, Field(strict=False)] = MetricsDialect.AUTO
    names: Mapping[Annotated[MetricRole, Field(strict=False)], Text] = Field(default_factory=dict)
    progress: tuple[Text, ...] = ()
    engine_labels: tuple[Text, ...] = ()
    repeated_labels: tuple[Text, ...] = ()


class ServiceDefinition(Shape):
    """One server of the stack. A path that is None is one that the server does not offer."""

    controller: Annotated[ControllerName, Field(strict=False)]
    command: tuple[_Template, ...] = ()
    env: Mapping[_EnvName, _Template] = Field(default_factory=dict)
    port: _Port = "free"
    base_url: _BaseUrl = "http://127.0.0.1:{port}"
    health: _UrlPath | None = "/health"
    server_info: _UrlPath | None = None
    flush_cache: _UrlPath | None = None
    metrics: MetricsEndpoint | None = None
    log: Annotated[LogSource, Field(strict=False)] = LogSource.NONE
    log_file: Text | None = None
    log_command: tuple[Text, ...] = ()
    ready_within_s: float = Field(default=90, gt=0, le=86_400)


class ServerInfoCheck(Shape):
    """Proof of a level: what the server reports at a dotted path, where * is any key or index.

    `when` names levels of other factors without which the report has no such entry, or another.
    """

    server_info: Text
    equals: Level
    when: Mapping[Name, Level] = Field(default_factory=dict)


class CounterCheck(Shape):
    """Proof that a level was used: a counter that grew by so much during the run."""

    counter: Text
    labels: Mapping[str, str] = Field(default_factory=dict)
    at_least: float = Field(default=1, gt=0)


class LevelEffect(Shape):
    """What a level does to the stack, and how to see that it did. No `verify`: unverifiable."""

    args: tuple[str, ...] = ()
    env: Mapping[_EnvName, str] = Field(default_factory=dict)
    request: RequestFields = Field(default_factory=dict)
    verify: tuple[ServerInfoCheck, ...] = ()
    exercise: tuple[CounterCheck, ...] = ()

    @property
    def needs_restart(self) -> bool:
        return bool(self.args or self.env)


class StackShape(Shape):
    stack: Name
    description: Text
    model: Text
    may_restart: bool = False
    services: Mapping[Name, ServiceDefinition] = Field(min_length=1)
    notify: tuple[Text, ...] = ()
    factors: Mapping[Name, Mapping[Level, LevelEffect | None]] = {}
