"""A trial as a campaign of its own, so that its runs are stored, proved and shown as any others.

Each is written as a campaign file would be: what the store keeps of it can be run again by itself.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from itertools import count
from typing import Any

from ruamel.yaml import YAML

from runner.campaign.campaign import CONCURRENCY, Campaign, Levels, OnWedge
from runner.campaign.campaign_file import campaign_of
from runner.campaign.file_shape import LevelValue, level_text
from runner.campaign.matrix import arm_name, matches
from runner.campaign.reduction_names import sandwich_prefix, trial_prefix
from runner.campaign.schedule import shuffled
from runner.campaign.yaml_source import parse_yaml
from runner.reduce.event_counts import Flips
from runner.reduce.trial import Load, Sandwich, Trial

_PLANNED_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The two arms of a campaign between which the smallest change is looked for."""

    campaign: Campaign
    clean: Levels
    failing: Levels
    sessions: int
    flips: Flips
    may_restart: bool

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(
            name
            for name in self.campaign.factors
            if level_text(self.clean[name]) != level_text(self.failing[name])
        )

    def levels_of(self, trial: Trial | Sandwich) -> dict[str, LevelValue]:
        """Of the changed arm."""
        levels = {
            name: (self.failing if name in trial.change else self.clean)[name]
            for name in self.campaign.factors
        }
        if trial.load.concurrency is not None:
            levels[CONCURRENCY] = trial.load.concurrency
        return levels

    def clean_levels(self, load: Load) -> dict[str, LevelValue]:
        """Of the clean arm: under the reduced load, unless the concurrency itself is changed."""
        levels = dict(self.clean)
        if load.concurrency is not None and CONCURRENCY not in self.factors:
            levels[CONCURRENCY] = load.concurrency
        return levels

    def is_excluded(self, trial: Trial) -> bool:
        """Whether the campaign's file leaves this combination out."""
        levels = self.levels_of(trial)
        return any(matches(levels, partial) for partial in self.campaign.exclude)


def trial_campaign(ends: Ends, trial: Trial, *, runs: int) -> Campaign:
    """One arm, run so many times; more runs extend the campaign."""
    levels = ends.levels_of(trial)
    shape = {
        **_common(ends, trial.load, [int(levels[CONCURRENCY])]),
        "campaign": trial_prefix(ends.campaign.name) + _digest(levels, trial.load),
        "question": _question(ends, trial),
        "factors": {name: [level] for name, level in levels.items()},
        "schedule": _schedule(ends, runs, order_seed=ends.campaign.schedule.order_seed),
    }
    return _campaign(ends, shape)


def sandwich_campaign(ends: Ends, sandwich: Sandwich, *, rounds: int, p_max: float) -> Campaign:
    """The clean and the reduced arm in turns, with the claim that the one has not what the other
    has: it gets a verdict as any campaign does.
    """
    clean, reduced = ends.clean_levels(sandwich.load), ends.levels_of(sandwich)
    changed = [name for name in clean if level_text(clean[name]) != level_text(reduced[name])]
    concurrencies = [int(clean[CONCURRENCY]), int(reduced[CONCURRENCY])]
    shape = {
        **_common(ends, sandwich.load, concurrencies),
        "campaign": sandwich_prefix(ends.campaign.name) + _digest(reduced, sandwich.load),
        "question": f"Does the smallest change that was found ({', '.join(changed)}) fail again?",
        "factors": {
            name: [level, reduced[name]] if name in changed else [level]
            for name, level in clean.items()
        },
        "exclude": _mixtures(clean, reduced, changed),
        "baseline": reduced,
        "schedule": _schedule(ends, rounds, order_seed=_seed_of_turns()),
        "hypotheses": [
            {
                "id": "smallest-change",
                "claim": f"Without the change of {', '.join(changed)} it does not fail.",
                "arm": clean,
                "predict": f"{ends.flips.criterion} == 0",
                "tolerate": round(p_max, 4),
                "goal": "cause",
            }
        ],
    }
    return _campaign(ends, {key: value for key, value in shape.items() if value != []})


def _common(ends: Ends, load: Load, concurrencies: list[int]) -> dict[str, Any]:
    campaign = ends.campaign
    workload = campaign.workload.model_dump(mode="json", exclude_none=True, exclude={"sessions"})
    workload |= {name: n for name, n in load.amounts() if name != CONCURRENCY}
    sessions = dict.fromkeys(concurrencies, ends.sessions)
    on_wedge = campaign.on_wedge
    if ends.flips is Flips.WEDGE and ends.may_restart:
        on_wedge = OnWedge.RESTART  # a wedge answers the question, and its run need not go on
    shape: dict[str, Any] = {
        "stack": campaign.stack,
        "workload": {**workload, "sessions": sessions},
        "corrupt": [str(outcome) for outcome in campaign.corrupt],
        "on_wedge": str(on_wedge),
    }
    if campaign.longest_pause_s is not None:
        shape["longest_pause_s"] = campaign.longest_pause_s
    if campaign.client_processes is not None:
        shape["client_processes"] = campaign.client_processes
    return shape


def _schedule(ends: Ends, blocks: int, *, order_seed: int) -> dict[str, Any]:
    restart = str(ends.campaign.schedule.restart)
    return {"blocks": blocks, "order_seed": order_seed, "restart": restart}


def _question(ends: Ends, trial: Trial) -> str:
    changed = [f"{name} {level_text(ends.failing[name])}" for name in ends.factors]
    kept = [text for text, name in zip(changed, ends.factors, strict=True) if name in trial.change]
    what = ", ".join(kept) or "nothing"
    return f"Reduction of {ends.campaign.name}: does it fail with {what} changed?"


def _mixtures(
    clean: Mapping[str, LevelValue], reduced: Mapping[str, LevelValue], changed: list[str]
) -> list[dict[str, LevelValue]]:
    """What leaves only the two arms in which all changed factors go together."""
    first, *others = changed
    return [
        mixed
        for other in others
        for mixed in (
            {first: clean[first], other: reduced[other]},
            {first: reduced[first], other: clean[other]},
        )
    ]


@lru_cache(maxsize=1)
def _seed_of_turns() -> int:
    """The first order seed that puts the clean arm before the reduced one in each early block."""
    blocks = range(1, _PLANNED_ROUNDS + 1)
    return next(
        seed
        for seed in count()
        if all(shuffled((0, 1), f"order {seed} block {block}") == [0, 1] for block in blocks)
    )


def _digest(levels: Mapping[str, LevelValue], load: Load) -> str:
    named = {name: level_text(level) for name, level in levels.items()}
    text = json.dumps([named, dict(load.amounts())], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _campaign(ends: Ends, shape: Mapping[str, Any]) -> Campaign:
    text = StringIO()
    YAML(typ="safe").dump(dict(shape), text)
    return _read(ends.campaign.source_path, text.getvalue())


@lru_cache(maxsize=512)
def _read(path: str, text: str) -> Campaign:
    """Kept, because each step looks at all trials so far and reading YAML is slow."""
    return campaign_of(parse_yaml(path, text))


def arm_text(ends: Ends, levels: Mapping[str, LevelValue]) -> str:
    return arm_name(ends.campaign.factors, levels)
