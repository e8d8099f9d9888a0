"""What a level of a factor does to a stack, and how that is proved; knows not the services.

The keys are documented in configs/README.md.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from runner.campaign.file_shape import Level, Name, RequestFields, Shape, Text

EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
EndpointUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^\s@]*[^/\s@]$")]


class ProofSource(StrEnum):
    """Where a proof looks. The words are the keys of the file."""

    SERVER_INFO = "server_info"
    MODELS = "models"
    LOG = "log"
    ENVIRONMENT = "environment"


def _compiled(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        what = f"is no regular expression: {error}"
        raise PydanticCustomError("pattern", "{error}", {"error": what}) from error
    return text


class LevelCheck(Shape):
    """Proof of a level: what one of the sources must say.

    `server_info` and `models` are dotted paths, where * is any key or index; `log` is a pattern
    that a line since the start must have, whose first group is compared; `environment` is a
    variable of the service's process. `when` names levels of other factors without which this is
    not asked, `at` the services or roles that are asked: all that have the source, if empty.
    """

    server_info: Text | None = None
    models: Text | None = None
    log: Annotated[Text, AfterValidator(_compiled)] | None = None
    environment: EnvName | None = None
    equals: Level | None = None
    at_least: float | None = None
    at_most: float | None = None
    absent: bool = False
    when: Mapping[Name, Level] = Field(default_factory=dict)
    at: tuple[Name, ...] = ()

    @property
    def sources(self) -> tuple[ProofSource, ...]:
        """Exactly one, in a file that was accepted."""
        return tuple(source for source in ProofSource if getattr(self, source) is not None)

    @property
    def source(self) -> ProofSource:
        return self.sources[0]

    @property
    def place(self) -> str:
        """The path, the pattern or the name of the variable."""
        return str(getattr(self, self.source))

    @property
    def is_compared(self) -> bool:
        return not (self.equals is None and self.at_least is None and self.at_most is None)


class CounterCheck(Shape):
    """Proof that a level was used: a counter that grew by so much during the run."""

    counter: Text
    labels: Mapping[str, str] = Field(default_factory=dict)
    at_least: float = Field(default=1, gt=0)


class ServiceEffect(Shape):
    """What a level does to one service, beyond what it does to all."""

    args: tuple[str, ...] = ()
    env: Mapping[EnvName, str] = Field(default_factory=dict)


class LevelEffect(Shape):
    """What a level does to the stack, and how to see that it did.

    Without `verify` a level is unverifiable, unless all of its factor's lie in what is sent alone.

    `at` are the services or roles that get `args` and `env`: all but routers, if empty. With `url`
    the arm is an endpoint: sessions go there, and the services of the stack are left alone.
    `command` enters the level by other means, `undo` leaves it. `implies` names settings of the
    server's report that follow from the level; a name stands for those that begin with it, too.
    """

    at: tuple[Name, ...] = ()
    args: tuple[str, ...] = ()
    env: Mapping[EnvName, str] = Field(default_factory=dict)
    services: Mapping[Name, ServiceEffect] = Field(default_factory=dict)
    request: RequestFields = Field(default_factory=dict)
    cancelling_clients: int = Field(default=0, ge=0, le=10_000)
    url: EndpointUrl | None = None
    model: Text | None = None
    api_key_env: EnvName | None = None
    command: tuple[Text, ...] = ()
    undo: tuple[Text, ...] = ()
    verify: tuple[LevelCheck, ...] = ()
    implies: tuple[Name, ...] = ()
    exercise: tuple[CounterCheck, ...] = ()

    @property
    def is_made_by_the_client(self) -> bool:
        """Whether it lies in what is sent alone, and so is in force by being sent."""
        return not (self.needs_restart or self.url or self.verify)

    @property
    def needs_restart(self) -> bool:
        return bool(self.args or self.env or self.command) or any(
            effect.args or effect.env for effect in self.services.values()
        )
