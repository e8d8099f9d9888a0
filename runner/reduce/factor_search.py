"""Which arm to try next, to find the smallest change that still flips clean to failing. Pure.

Delta debugging as group testing under noise: every set of factors could be the cause; each arm that
was tried speaks for some of them and against others (`cause_beliefs`). The next arm is the one
whose answer is most open, until one set stands out; that one is then confirmed factor by factor.
The step is worked out anew from all standings each time, so that a lean that turns out wrong costs
runs and misleads no further.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runner.reduce.cause_beliefs import Beliefs, Change, beliefs_within
from runner.reduce.standing import Standing

MOST_FACTORS = 12
_STANDS_OUT = 0.5


@dataclass(frozen=True, slots=True)
class Try:
    """Run the arm of this change once more. `why` says what that is to show."""

    change: Change
    why: str


@dataclass(frozen=True, slots=True)
class Smallest:
    """`without` says of each kept factor how the change stands without it.

    `clean`: it is needed. `undecided`, `barred`: it is kept because nobody could say.
    """

    change: Change
    without: Mapping[str, Standing]

    @property
    def is_decided(self) -> bool:
        return all(each is Standing.CLEAN for each in self.without.values())


@dataclass(frozen=True, slots=True)
class NothingToReduce:
    """The two ends do not differ as they should; `because` is a whole sentence."""

    because: str


NeededShown: TypeAlias = Callable[[Change, str], bool]

Step: TypeAlias = Try | Smallest | NothingToReduce


def next_step(factors: Sequence[str], known: Mapping[Change, Standing], shown: NeededShown) -> Step:
    """`factors` are those in which the two arms differ, in the order of the campaign; `known` is
    what was tried, and what is barred. No more than MOST_FACTORS.

    `shown` says whether all clean arms together show that the change needs the factor.
    """
    at_ends = _ends(factors, known)
    if at_ends is not None:
        return at_ends
    failing = smallest_failing(factors, known)
    beliefs = beliefs_within(failing, factors, known)
    likeliest = beliefs.likeliest
    if likeliest.probability >= _STANDS_OUT:
        if likeliest.change == failing:
            return _confirmed(failing, factors, known, shown)
        return Try(likeliest.change, f"whether {listed(likeliest.change, factors)} is enough")
    asked = _most_open(beliefs, known)
    if asked is None:
        return _confirmed(failing, factors, known, shown)
    return Try(asked, f"whether {listed(asked, factors)} is enough")


def smallest_failing(factors: Sequence[str], known: Mapping[Change, Standing]) -> Change:
    """Of the changes that seem to flip; all factors where there is no other."""
    failing = [change for change, stands in known.items() if stands.seems_to_flip]
    return min(failing, key=lambda x: (len(x), listed(x, factors)), default=frozenset(factors))


def listed(names: Change, factors: Sequence[str]) -> str:
    """`a, b and c`, in the order of the factors."""
    words = [name for name in factors if name in names]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _ends(factors: Sequence[str], known: Mapping[Change, Standing]) -> Step | None:
    whole, none = frozenset(factors), frozenset[str]()
    at_end = known.get(whole, Standing.OPEN)
    at_start = known.get(none, Standing.OPEN)
    if not at_end.seems_to_flip:
        if not at_end.is_final:
            return Try(whole, "whether the failing arm fails")
        return NothingToReduce(f"the arm that should fail does not: it is {at_end} after its runs")
    if not at_start.seems_clean:
        if not at_start.is_final:
            return Try(none, "whether the clean arm is clean")
        return NothingToReduce(
            f"the arm that should be clean is not shown to be: it is {at_start} after its runs"
        )
    return None


def _most_open(beliefs: Beliefs, known: Mapping[Change, Standing]) -> Change | None:
    """The arm whose answer is nearest to even odds, of those that have not answered yet."""
    asked = [
        (abs(beliefs.probability_that_flips(change) - 0.5), len(change), change)
        for change in beliefs.nested_changes()
        if known.get(change, Standing.OPEN) is Standing.OPEN
    ]
    return min(asked, key=lambda x: x[:2])[2] if asked else None


def _confirmed(
    kept: Change, factors: Sequence[str], known: Mapping[Change, Standing], shown: NeededShown
) -> Step:
    """Every claim decided: that the change does not flip without any one of its factors.

    That it does flip is left to the sandwich, whose runs are fresh.
    """
    without = {name: known.get(kept - {name}, Standing.OPEN) for name in factors if name in kept}
    for name, stands in without.items():
        if stands is Standing.LEANS_TO_CLEAN and shown(kept, name):
            without[name] = Standing.CLEAN
        elif not stands.is_final:
            return Try(kept - {name}, f"that {name} is needed")
    return Smallest(kept, without)
