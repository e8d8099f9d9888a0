"""Which runs a filter is about: decided from their arms and counters, before any session is read.

A filter on campaign, arm, level, concurrency, block, run or state costs one read of the runs.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, select

from db.filters.terms import Comparison, Filter, Term
from db.identifiers import IdKind, parse_id
from db.reads.relations import ARM, CAMPAIGN, RUN
from db.reads.runs import OUTCOME_NAMES
from db.tables.columns import Json, JsonList
from db.vocabulary import Outcome

RUN_KEYS = ("run", "block", "state", "runflag", "arm", "level", "c", "campaign")

_ARM_KEYS = ("arm", "level", "c", "campaign")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmScope:
    """The arm of a run, with all that a filter can ask of it."""

    arm_id: int
    name: str
    tag: str | None
    levels: Json
    concurrency: int
    campaign_id: int
    campaign: str


class RunScope(NamedTuple):
    """One run that passes; `numbers` counts its sessions by outcome, in the order of `Outcome`.

    A tuple, because a search looks at thousands.
    """

    run_id: int
    block: int
    state: str
    flags: JsonList
    started_at_us: int | None
    numbers: tuple[int, ...]
    arm: ArmScope

    @property
    def counts(self) -> Mapping[str, int]:
        return dict(zip(OUTCOME_NAMES, self.numbers, strict=True))

    @property
    def sessions(self) -> int:
        return sum(self.numbers)


def run_scopes(
    connection: Connection, wanted: Filter, *, run_ids: Sequence[int] | None = None
) -> list[RunScope]:
    """The runs with sessions that pass what `wanted` asks of runs, the newest first.

    Of those named by `run_ids` where given. What it asks of sessions is left alone.
    """
    named = [RUN.c.id.in_(ids) for ids in (run_ids, _named_runs(wanted)) if ids is not None]
    arms = {arm.arm_id: arm for arm in _arms(connection, wanted, named) if _passes_arm(arm, wanted)}
    numbers = [RUN.c[f"n_{outcome}"] for outcome in Outcome]
    columns = (RUN.c.id, RUN.c.arm_id, RUN.c.block, RUN.c.state, RUN.c.flags, RUN.c.started_at_us)
    statement = (
        select(*columns, *numbers).where(RUN.c.n_ended > 0, *named).order_by(RUN.c.id.desc())
    )
    if wanted.of(*_ARM_KEYS):
        of_campaigns = {arm.campaign_id for arm in arms.values()}
        statement = statement.where(RUN.c.campaign_id.in_(of_campaigns), RUN.c.arm_id.in_(arms))
    scopes = (
        RunScope(run_id, block, state, flags, started_at_us, tuple(counts), arms[arm_id])
        for run_id, arm_id, block, state, flags, started_at_us, *counts in connection.execute(
            statement
        ).all()
        if arm_id in arms
    )
    asked = wanted.of("run", "block", "state", "runflag")
    return [scope for scope in scopes if _passes_run(scope, asked)] if asked else [*scopes]


def admitted_outcomes(wanted: Filter) -> tuple[Outcome, ...]:
    """The outcomes that pass; all of them where the filter asks for none."""
    return tuple(
        outcome
        for outcome in Outcome
        if all(_holds(term, _is_outcome(term, outcome)) for term in wanted.of("outcome"))
    )


def _is_outcome(term: Term, outcome: Outcome) -> bool:
    names = {str(outcome), str(outcome.outcome_class)}
    return any(word in names for word in term.words)


def _arms(
    connection: Connection, wanted: Filter, named_runs: Sequence[ColumnElement[bool]]
) -> list[ArmScope]:
    """Of the campaigns, arms and runs that are named one by one where some are: a store may hold
    thousands of campaigns.
    """
    statement = select(
        ARM.c.id.label("arm_id"),
        ARM.c.name,
        ARM.c.tag,
        ARM.c.levels,
        ARM.c.concurrency,
        ARM.c.campaign_id,
        CAMPAIGN.c.name.label("campaign"),
    ).join_from(ARM, CAMPAIGN, CAMPAIGN.c.id == ARM.c.campaign_id)
    for key, kind, column in (
        ("campaign", IdKind.CAMPAIGN, ARM.c.campaign_id),
        ("arm", IdKind.ARM, ARM.c.id),
    ):
        ids = _named_ids(wanted.of(key), kind)
        if ids is not None:
            statement = statement.where(column.in_(ids))
    if named_runs:
        statement = statement.where(ARM.c.id.in_(select(RUN.c.arm_id).where(*named_runs)))
    return [ArmScope(**row._mapping) for row in connection.execute(statement)]


def _named_ids(terms: Sequence[Term], kind: IdKind) -> list[int] | None:
    """What a term names by ids alone, so that no other is read; None: no term does."""
    for term in terms:
        ids = [parse_id(kind, word) for word in term.words]
        if not term.is_negated and None not in ids:
            return [row_id for row_id in ids if row_id is not None]
    return None


def _passes_arm(arm: ArmScope, wanted: Filter) -> bool:
    return all(
        _holds(term, is_so) for term in wanted.of(*_ARM_KEYS) for is_so in [_is_of_arm(term, arm)]
    )


def _is_of_arm(term: Term, arm: ArmScope) -> bool:
    if term.key == "c":
        return _admits(term, arm.concurrency)
    if term.key == "campaign":
        return any(
            parse_id(IdKind.CAMPAIGN, word) == arm.campaign_id or word == arm.campaign
            for word in term.words
        )
    if term.key == "level":
        return any(_has_level(arm, word) for word in term.words)
    words = ArmWords(arm.arm_id, arm.name, arm.tag)
    return any(_names_arm(word, words) for word in term.words)


class ArmWords(NamedTuple):
    """What an `arm:` term can name an arm by."""

    arm_id: int
    name: str
    tag: str | None


def unknown_arms(wanted: Filter, arms: Collection[ArmWords]) -> list[str]:
    """Words of `arm:` terms that are about none of these arms, whether asked for or excluded."""
    words = dict.fromkeys(word for term in wanted.of("arm") for word in term.words)
    return [word for word in words if not any(_names_arm(word, arm) for arm in arms)]


def _names_arm(word: str, arm: ArmWords) -> bool:
    """Whether it is the arm's id, or words of its name or tag."""
    row_id = parse_id(IdKind.ARM, word)
    if row_id is not None:
        return row_id == arm.arm_id
    return any(_has_in_order(each, word) for each in (arm.name, arm.tag or ""))


def _has_level(arm: ArmScope, word: str) -> bool:
    """`factor=level` names both; a level alone may be any factor's."""
    factor, equals, level = word.rpartition("=")
    levels = {str(key).lower(): str(value).lower() for key, value in arm.levels.items()}
    if equals:
        return levels.get(factor.lower()) == level.lower()
    return level.lower() in levels.values()


def _has_in_order(name: str, words: str) -> bool:
    """Whole words next to one another: `c-8` is not in `c-80`."""
    have, want = _WORD.findall(name.lower()), _WORD.findall(words.lower())
    starts = range(len(have) - len(want) + 1)
    return bool(want) and any(have[start : start + len(want)] == want for start in starts)


def _passes_run(scope: RunScope, asked: Sequence[Term]) -> bool:
    return all(_holds(term, _is_of_run(term, scope)) for term in asked)


def _is_of_run(term: Term, scope: RunScope) -> bool:
    if term.key == "state":
        return scope.state in term.words
    if term.key == "runflag":
        return any(word in scope.flags for word in term.words)
    return _admits(term, scope.run_id if term.key == "run" else scope.block)


def _named_runs(wanted: Filter) -> list[int] | None:
    """The runs that a term names one by one, so that no other is read; None: no term does."""
    for term in wanted.of("run"):
        if not term.is_negated and all(
            bound.comparison is Comparison.EQUAL for bound in term.bounds
        ):
            return [round(bound.number) for bound in term.bounds]
    return None


def _admits(term: Term, value: float) -> bool:
    return any(bound.admits(value) for bound in term.bounds)


def _holds(term: Term, is_so: bool) -> bool:
    return is_so is not term.is_negated


def is_counted(wanted: Filter) -> bool:
    """Whether the counters of the runs answer how many sessions pass."""
    return not wanted.without("outcome", *RUN_KEYS).terms
