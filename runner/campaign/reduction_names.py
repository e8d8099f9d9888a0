"""Which campaigns a reduction made, told by their names, and of which campaign they are; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

NAME_CHARACTERS = 40
"""So much of the name of the reduced campaign stands in the names of its trials."""

_TRIAL, _SANDWICH = "reduce", "reduced"
_OF_REDUCTION = re.compile(rf"(.+)\.(?:{_TRIAL}|{_SANDWICH})-[0-9a-f]{{8}}")


class Named(Protocol):
    @property
    def name(self) -> str: ...


Campaign = TypeVar("Campaign", bound=Named)


@dataclass(frozen=True, slots=True)
class ReducedCampaign(Generic[Campaign]):
    """A campaign and those that its reductions made, in the order in which they were given."""

    campaign: Campaign
    trials: tuple[Campaign, ...] = ()


def trial_prefix(campaign: str) -> str:
    return f"{campaign[:NAME_CHARACTERS]}.{_TRIAL}-"


def sandwich_prefix(campaign: str) -> str:
    return f"{campaign[:NAME_CHARACTERS]}.{_SANDWICH}-"


def is_of_reduction(campaign: str) -> bool:
    return _OF_REDUCTION.fullmatch(campaign) is not None


def by_reduction(newest_first: Sequence[Campaign]) -> list[ReducedCampaign[Campaign]]:
    """Trials under the newest campaign of that name which was there before them; those whose
    campaign is not among them stand by themselves.
    """
    trials: dict[int, list[Campaign]] = {place: [] for place in range(len(newest_first))}
    roots = []
    for place, each in enumerate(newest_first):
        root = _root_of(place, newest_first)
        if root == place:
            roots.append(place)
        else:
            trials[root].append(each)
    return [ReducedCampaign(newest_first[place], tuple(trials[place])) for place in roots]


def _root_of(place: int, newest_first: Sequence[Campaign]) -> int:
    found = _OF_REDUCTION.fullmatch(newest_first[place].name)
    if found is None:
        return place
    older = range(place + 1, len(newest_first))
    for earlier in older:
        if newest_first[earlier].name[:NAME_CHARACTERS] == found[1]:
            return _root_of(earlier, newest_first)
    return place
