"""What one page of metrics says of each engine behind it; judges nothing.

Engines are read apart before anything is summed, because one may stand still while the sum grows.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner.campaign.stack_shape import MetricRole
from runner.observe.exposition import Sample
from runner.observe.metric_dialects import GUESSED, HOLDING_ROLES, PROCESS_START, Dialect

Series = tuple[str, tuple[tuple[str, str], ...]]
Counters = Mapping[Series, float]

# A count below zero, or beyond what any machine holds, is no count: that role is not known.
_MOST = 1e15
_ADDED_UP = frozenset(MetricRole) - {MetricRole.TOKEN_USAGE}
_COUNTED_TWICE = frozenset({MetricRole.RUNNING, MetricRole.REQUESTS})
# A router that passes the page on writes `_` for `:` in it.
_WORKER_AT = re.compile(r"(?:^|, )worker=(?:[^,]*:|https?_//[^,]*_)\d+(?:/|,|$)")


@dataclass(frozen=True, slots=True)
class EngineReading:
    """`engine` is empty where the page knows only one; roles that it does not report are absent.

    `output` are the counters of `progress` that count tokens given out, `taken_in` those that count
    tokens of prompts.
    """

    engine: str
    values: Mapping[MetricRole, float] = field(default_factory=dict)
    progress: Counters = field(default_factory=dict)
    output: Counters = field(default_factory=dict)
    taken_in: Counters = field(default_factory=dict)

    @property
    def is_in_transfer(self) -> bool:
        """Whether requests wait for pages that another instance has computed."""
        return bool(self.values.get(MetricRole.DECODE_TRANSFER))

    @property
    def held(self) -> float | None:
        """Requests that this engine says it holds, in whichever queue; None where it says none."""
        said = [self.values[role] for role in HOLDING_ROLES if role in self.values]
        return sum(said) if said else None


@dataclass(frozen=True, slots=True)
class PageReading:
    """`shared` counters carry no engine's label though the page knows several engines.

    `unowned` are the roles that only such series report.
    """

    dialect: str
    engines: tuple[EngineReading, ...]
    shared: Counters
    unowned: Mapping[MetricRole, float]
    process_starts: frozenset[float]

    def totals(self) -> dict[MetricRole, float]:
        """Each role over all engines; one that no engine reports is absent: missing is not zero.

        A request that prefill counts is counted by decode again, so prefill engines are left out of
        `running` and `requests` where others report. A router counts it for both and does not say
        which of its workers decodes: over several, `running` is not known.
        """
        total: dict[MetricRole, float] = dict(self.unowned)
        for role in MetricRole:
            said = [engine.values[role] for engine in self._counted(role) if role in engine.values]
            if said:
                total[role] = sum(said) if role in _ADDED_UP else max(said)
        if self.dialect == GUESSED and sum(map(_is_worker_of_router, self.engines)) > 1:
            total.pop(MetricRole.RUNNING, None)
        return total

    def _counted(self, role: MetricRole) -> Sequence[EngineReading]:
        others = [each for each in self.engines if "engine_type=prefill" not in each.engine]
        says_it = any(role in each.values for each in others)
        return others if role in _COUNTED_TWICE and says_it else self.engines


def read_page(
    samples: Iterable[Sample], dialect: Dialect, *, model: str | None = None
) -> PageReading:
    """`model`: other models may share the page; series of theirs are left out if it is named."""
    taken = [sample for sample in _of_model(list(samples), model) if _counts(sample, dialect)]
    progress = _progress(taken, dialect)
    engines = _engine_names(taken, dialect)
    readings = tuple(
        _reading(taken, dialect, name, progress, is_only=len(engines) == 1) for name in engines
    )
    shared = {series: value for series, (owner, value) in progress.items() if owner not in engines}
    starts = frozenset(sample.value for sample in taken if sample.name == PROCESS_START)
    said = {role for each in readings for role in each.values}
    whole = _role_values(taken, dialect, "", is_only=True)
    unowned = {role: value for role, value in whole.items() if role not in said}
    return PageReading(dialect.name, readings, shared, unowned, starts)


def _reading(
    samples: Sequence[Sample],
    dialect: Dialect,
    engine: str,
    progress: Mapping[Series, tuple[str, float]],
    *,
    is_only: bool,
) -> EngineReading:
    own = {
        series: value for series, (owner, value) in progress.items() if owner == engine or is_only
    }
    return EngineReading(
        engine=engine,
        values=_role_values(samples, dialect, engine, is_only=is_only),
        progress=own,
        output={series: value for series, value in own.items() if _is_output(series, dialect)},
        taken_in={series: value for series, value in own.items() if _is_taken_in(series, dialect)},
    )


def _is_output(series: Series, dialect: Dialect) -> bool:
    name, labels = series
    return name in dialect.output and dict(labels).get("mode") not in dialect.input_modes


def _is_taken_in(series: Series, dialect: Dialect) -> bool:
    name, labels = series
    of_prompts = name in dialect.roles.get(MetricRole.PROMPT_TOKENS, ())
    return of_prompts or dict(labels).get("mode") in dialect.input_modes


def short_engine_name(engine: str, engines: Iterable[str]) -> str:
    """`engine` without the labels that all `engines` share: what tells it from the others."""
    parts = engine.split(", ")
    others = [set(name.split(", ")) for name in engines if name != engine]
    if not others:
        return engine
    return ", ".join(part for part in parts if not all(part in other for other in others))


def summed_over_engines(samples: Iterable[Sample], dialect: Dialect) -> float | None:
    """The samples of one series over engines, once for ranks that repeat one another."""
    values = _once_per_rank(filter(_is_count, samples), dialect)
    return sum(values.values()) if values else None


def _is_count(sample: Sample) -> bool:
    return 0 <= sample.value <= _MOST


def _of_model(samples: list[Sample], model: str | None) -> list[Sample]:
    if model is None:
        return samples
    named = {sample.labels.get("model_name") for sample in samples}
    if model not in named:
        return samples
    return [sample for sample in samples if sample.labels.get("model_name") in (None, model)]


def _is_worker_of_router(engine: EngineReading) -> bool:
    """Whether it goes by `worker` and an address, as on the own page of SGLang's router."""
    return _WORKER_AT.search(engine.engine) is not None


def _counts(sample: Sample, dialect: Dialect) -> bool:
    return all(sample.labels.get(label) != value for label, value in dialect.dropped.items())


def _engine_of(sample: Sample, dialect: Dialect) -> str:
    pairs = [(label, sample.labels.get(label, "")) for label in dialect.engine_labels]
    return ", ".join(f"{label}={value}" for label, value in pairs if value)


def _engine_names(samples: Sequence[Sample], dialect: Dialect) -> list[str]:
    """Those that report a gauge, in order; counters alone do not make an engine.

    A page with counters only has one engine.
    """
    gauges = {name for role in HOLDING_ROLES for name in dialect.roles.get(role, ())}
    found = {_engine_of(sample, dialect) for sample in samples if sample.name in gauges}
    apart = {name for name in found if name}
    # A series without the label beside labelled ones is of the process before the engines.
    return sorted(apart or found or {""})


def _role_values(
    samples: Sequence[Sample], dialect: Dialect, engine: str, *, is_only: bool
) -> dict[MetricRole, float]:
    values: dict[MetricRole, float] = {}
    for role, names in dialect.roles.items():
        for name in names:
            matching = [
                sample
                for sample in samples
                if sample.name == name
                and _is_count(sample)
                and (is_only or _engine_of(sample, dialect) == engine)
            ]
            if matching:
                values[role] = sum(_once_per_rank(matching, dialect).values())
                break
    return values


def _progress(samples: Sequence[Sample], dialect: Dialect) -> dict[Series, tuple[str, float]]:
    """Series -> (engine, value) of the best group of counters that the page has."""
    for names in dialect.progress:
        matching = [sample for sample in samples if sample.name in names]
        if matching:
            return {
                (sample.name, tuple(sorted(sample.labels.items()))): (
                    _engine_of(sample, dialect),
                    sample.value,
                )
                for sample in matching
            }
    return {}


def _once_per_rank(
    samples: Iterable[Sample], dialect: Dialect
) -> dict[tuple[tuple[str, str], ...], float]:
    """The largest of the ranks that repeat one another; with priorities, the line of all of them.

    SGLang writes priority="" for the total beside one line for each priority.
    """
    groups: dict[tuple[tuple[str, str], ...], float] = {}
    by_priority: defaultdict[bool, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_priority[bool(sample.labels.get("priority"))].append(sample)
    for sample in by_priority[False] or by_priority[True]:
        key = tuple(
            sorted(item for item in sample.labels.items() if item[0] not in dialect.repeated_labels)
        )
        groups[key] = max(groups.get(key, sample.value), sample.value)
    return groups
