"""One thing that is tried: which factors are changed, and under which load. Values only."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from runner.reduce.cause_beliefs import Change


@dataclass(frozen=True, slots=True)
class Load:
    """What the sessions of a trial are; None: as the campaign has it.

    In this order they are made smaller, once the factors are found.
    """

    concurrency: int | None = None
    rounds: int | None = None
    tools: int | None = None
    context_tokens: int | None = None

    def with_amount(self, name: str, amount: int) -> "Load":
        return replace(self, **{name: amount})

    def amounts(self) -> Iterator[tuple[str, int]]:
        """Those that are not as the campaign has them."""
        for each in fields(self):
            amount = getattr(self, each.name)
            if amount is not None:
                yield each.name, amount


AS_GIVEN = Load()


@dataclass(frozen=True, slots=True)
class Trial:
    change: Change
    load: Load = AS_GIVEN


@dataclass(frozen=True, slots=True)
class Sandwich:
    """Fresh runs of the clean arm and of the reduced one in turns, under the reduced load."""

    change: Change
    load: Load
