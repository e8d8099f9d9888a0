"""The keys of a stack file and the kinds of their values; knows not whether they fit together.

The keys are documented in configs/README.md.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from runner.campaign.file_shape import Level, Name, Shape, Text
from runner.campaign.level_effect import EnvName, LevelEffect

PLACEHOLDERS = ("{python}", "{port}", "{SERVICE.port}", "{SERVICE.url}")
COMMAND_PLACEHOLDERS = (*PLACEHOLDERS, "{command}", "{command_json}", "{env}", "{env:WORD}")
SERVICE_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9][A-Za-z0-9._-]*)\.(port|url)\}")
FOUND = "{found}"
_BRACED_WORD = re.compile(r"\{[A-Za-z][^{}\s\"']*\}")
_OF_COMMANDS = re.compile(r"\{(?:command|command_json|env|env:[^{}]+|found)\}")


class ControllerName(StrEnum):
    """Who starts a service: we, as a child process; systemd; commands of ours; somebody else."""

    PROCESS = "process"
    SYSTEMD = "systemd"
    COMMAND = "command"
    EXTERNAL = "external"

    @property
    def is_ours(self) -> bool:
        """Whether we may start and stop it."""
        return self is not ControllerName.EXTERNAL


class ServiceRole(StrEnum):
    """What a service does. Levels act on all but routers, where they name nobody."""

    ENGINE = "engine"
    PREFILL = "prefill"
    DECODE = "decode"
    ROUTER = "router"


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

    `file`: a file that it appends to. `journal`: the journal of its unit. `command`: what a command
    prints that follows its log.
    """

    PROCESS = "process"
    FILE = "file"
    JOURNAL = "journal"
    COMMAND = "command"
    NONE = "none"


def _with_known_placeholders(text: str) -> str:
    """JSON and templates of other tools have braces too; they hold no bare word."""
    for placeholder in _BRACED_WORD.findall(text):
        _require_known(placeholder, PLACEHOLDERS)
    return text


def _with_known_command_placeholders(text: str) -> str:
    for placeholder in _BRACED_WORD.findall(text):
        if not _OF_COMMANDS.fullmatch(placeholder):
            _require_known(placeholder, COMMAND_PLACEHOLDERS)
    return text


def _require_known(placeholder: str, known: tuple[str, ...]) -> None:
    if placeholder not in ("{python}", "{port}") and not SERVICE_PLACEHOLDER.fullmatch(placeholder):
        error = f"has an unknown placeholder; allowed: {', '.join(known)}"
        raise PydanticCustomError("placeholder", "{error}", {"error": error})


def _checked_port(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if value != "free" and not (is_number and 1 <= int(str(value)) <= 65_535):
        error = "must be a port from 1 to 65535, or the word free"
        raise PydanticCustomError("port", "{error}", {"error": error})
    return value


_Template = Annotated[str, AfterValidator(_with_known_placeholders)]
_CommandWord = Annotated[str, AfterValidator(_with_known_command_placeholders)]
_CommandWords = Annotated[tuple[_CommandWord, ...], Field(min_length=1)]
_Port = Annotated[int | Literal["free"], BeforeValidator(_checked_port)]
_Path = Annotated[str, StringConstraints(pattern=r"^/\S*$")]
_BaseUrl = Annotated[_Template, StringConstraints(pattern=r"^https?://[^\s@]*[^/\s@]$")]
_HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
_UnitName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9:_.\\@-]+\.service$")]
_Program = Annotated[tuple[Text, ...], Field(min_length=1)]


class HostDefinition(Shape):
    """A machine that services run on, and the programs that act on it.

    `ssh` are the words before a command that is to run there, empty for this machine; `become` are
    those before one that changes something there.
    """

    ssh: tuple[Text, ...] = ()
    become: tuple[Text, ...] = ()
    systemctl: _Program = ("systemctl",)
    journalctl: _Program = ("journalctl",)
    nvidia_smi: _Program = ("nvidia-smi",)
    drop_ins: _Path = "/run/systemd/system"


class MetricsEndpoint(Shape):
    """With the dialect `other`, `names` says which series has which role.

    `progress` are counters that move while tokens are made, `engine_labels` tell engines apart,
    `repeated_labels` tell ranks apart that export the same numbers.
    """

    path: _Path = "/metrics"
    dialect: Annotated[MetricsDialect, Field(strict=False)] = MetricsDialect.AUTO
    names: Mapping[Annotated[MetricRole, Field(strict=False)], Text] = Field(default_factory=dict)
    progress: tuple[Text, ...] = ()
    engine_labels: tuple[Text, ...] = ()
    repeated_labels: tuple[Text, ...] = ()


class ServiceCommands(Shape):
    """How the controller `command` acts: commands, each a list of words, one after the other.

    `found` prints what `{found}` stands for in `restore`. `status` ends with 0 while it runs.
    """

    start: Annotated[tuple[_CommandWords, ...], Field(min_length=1)]
    stop: Annotated[tuple[_CommandWords, ...], Field(min_length=1)]
    status: tuple[_CommandWord, ...] = ()
    found: tuple[_CommandWord, ...] = ()
    restore: tuple[_CommandWords, ...] = ()


class ServiceDefinition(Shape):
    """One server of the stack. A path that is None is one that the server does not offer."""

    controller: Annotated[ControllerName, Field(strict=False)]
    role: Annotated[ServiceRole, Field(strict=False)] = ServiceRole.ENGINE
    host: Name | None = None
    needs: tuple[Name, ...] = ()
    command: tuple[_Template, ...] = ()
    env: Mapping[EnvName, _Template] = Field(default_factory=dict)
    unit: _UnitName | None = None
    args_variable: EnvName | None = None
    commands: ServiceCommands | None = None
    port: _Port = "free"
    base_url: _BaseUrl = "http://127.0.0.1:{port}"
    health: _Path | None = "/health"
    server_info: _Path | None = None
    models: _Path | None = None
    flush_cache: _Path | None = None
    clear_storage: _Path | None = None
    metrics: MetricsEndpoint | None = None
    log: Annotated[LogSource, Field(strict=False)] = LogSource.NONE
    log_file: Text | None = None
    log_command: tuple[Text, ...] = ()
    api_key_env: EnvName | None = None
    admin_key_env: EnvName | None = None
    headers: Mapping[_HeaderName, Text] = Field(default_factory=dict)
    header_env: Mapping[_HeaderName, EnvName] = Field(default_factory=dict)
    ca_file: Text | None = None
    proxy_env: EnvName | None = None
    facts: Mapping[Name, _CommandWords] = Field(default_factory=dict)
    ready_within_s: float = Field(default=90, gt=0, le=86_400)
    switch_within_s: float = Field(default=1_800, gt=0, le=604_800)


class StackShape(Shape):
    stack: Name
    description: Text
    model: Text
    may_restart: bool = False
    hosts: Mapping[Name, HostDefinition] = Field(default_factory=dict)
    services: Mapping[Name, ServiceDefinition] = Field(min_length=1)
    notify: tuple[Text, ...] = ()
    factors: Mapping[Name, Mapping[Level, LevelEffect | None]] = {}
