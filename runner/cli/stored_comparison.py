"""Two runs of a store as one comparison: their counts, and the dialogues that both played."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from db.identifiers import IdKind, format_id, parse_id
from db.reads.runs import RunCounts
from db.reads.sessions import paired_outcomes
from db.store import Store
from db.vocabulary import Outcome, OutcomeClass
from runner.campaign.prediction import parse_prediction
from runner.cli.opening import find_stored_run
from runner.errors import UsageError
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.campaign_verdict import Question
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.counts_question import NO_CORRUPTION
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.paired_sessions import PairedSessions, pair_sessions
from runner.execute.campaign_evidence import CampaignEvidence, gather_evidence
from runner.execute.launch_differences import (
    LaunchDifferences,
    are_endpoints,
    declared_between,
    implied_between,
    launch_differences,
)


class FlippedDialogue(NamedTuple):
    """A dialogue that was corrupt in one run and clean in the other; ids of its sessions."""

    session_index: int
    first: str
    first_outcome: str
    second: str
    second_outcome: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    run: RunCounts
    evidence: CampaignEvidence

    @property
    def label(self) -> str:
        return format_id(IdKind.RUN, self.run.id)

    @property
    def arm_name(self) -> str:
        return self.evidence.arm(self.run.arm_id).name

    @property
    def corrupt(self) -> frozenset[str]:
        return frozenset(self.evidence.campaign.corrupt_outcomes)

    def as_arm(self) -> ArmEvidence:
        runs = self.evidence.of_arm(self.run.arm_id).runs
        return ArmEvidence(self.label, tuple(x for x in runs if x.label == self.label), 1)


def is_run_id(text: str) -> bool:
    return parse_id(IdKind.RUN, text) is not None


def find_runs(store: Store, first: str, second: str) -> tuple[StoredRun, StoredRun]:
    """Raises UsageError for runs that are not there or count different outcomes as corrupt."""
    after, before = _find(store, first), _find(store, second)
    if after.run.id == before.run.id:
        raise UsageError(f"{after.label} cannot be compared with itself")
    if after.corrupt != before.corrupt:
        raise UsageError(
            f"{after.label} and {before.label} cannot be compared: their campaigns count other "
            f"outcomes as corrupt ({_listed(after.corrupt)}; {_listed(before.corrupt)})"
        )
    return after, before


def question_of_runs(after: StoredRun, before: StoredRun) -> Question:
    """Exploratory: who picks two runs has seen them."""
    return Question(
        prediction=parse_prediction(NO_CORRUPTION),
        arm=after.as_arm(),
        versus=before.as_arm(),
        rule=DecisionRule(is_registered=False),
        setting=_setting(after, before),
    )


def pair_runs(
    store: Store, after: StoredRun, before: StoredRun
) -> tuple[PairedSessions, Sequence[FlippedDialogue]]:
    """The same dialogues in both runs; those that flipped by session index."""
    with store.session() as session:
        frame = paired_outcomes(session.connection(), after.run.id, before.run.id)
    rows = frame.to_dict("records")
    first = {str(row["a_id"]): _class(row["a_outcome"], after.corrupt) for row in rows}
    second = {str(row["a_id"]): _class(row["b_outcome"], after.corrupt) for row in rows}
    flipped = [
        FlippedDialogue(
            session_index=int(row["session_index"]),
            first=format_id(IdKind.SESSION, int(row["a_id"])),
            first_outcome=row["a_outcome"],
            second=format_id(IdKind.SESSION, int(row["b_id"])),
            second_outcome=row["b_outcome"],
        )
        for row in rows
        if {first[str(row["a_id"])], second[str(row["a_id"])]}
        == {OutcomeClass.CLEAN, OutcomeClass.CORRUPT}
    ]
    return pair_sessions(first, second), flipped


def _find(store: Store, text: str) -> StoredRun:
    found = find_stored_run(store, text)
    return StoredRun(found, gather_evidence(store, found.campaign_id))


def _setting(after: StoredRun, before: StoredRun) -> ComparisonSetting:
    """As the campaigns of both have it, of these two runs alone."""
    pair = (after, before)
    differences = _differences(after, before)
    of_after, of_before = (x.evidence.setting(x.run.arm_id, x.run.arm_id) for x in pair)
    labels = {after.label, before.label}
    compared = {format_id(IdKind.CAMPAIGN, x.run.campaign_id) for x in pair}
    return replace(
        of_after,
        launch_of=_of(labels, {**of_before.launch_of, **of_after.launch_of}),
        perhaps_one_start=_of(
            labels, {**of_before.perhaps_one_start, **of_after.perhaps_one_start}
        ),
        order=(),
        order_is_random=None,
        earlier_campaigns=tuple(x for x in of_after.earlier_campaigns if x not in compared),
        sessions_planned=_of(labels, {**of_before.sessions_planned, **of_after.sessions_planned}),
        unverified=_unverified(after, before),
        undeclared_differences=differences.undeclared,
        implied_differences=differences.implied,
        is_versus_concurrent=after.run.campaign_id == before.run.campaign_id,
        ended_by_rule=of_after.ended_by_rule or of_before.ended_by_rule,
    )


def _of(labels: set[str], by_label: dict[str, Any]) -> dict[str, Any]:
    return {label: value for label, value in by_label.items() if label in labels}


def _unverified(after: StoredRun, before: StoredRun) -> tuple[str, ...]:
    """The factors in which the runs differ and which nothing could prove in one of them."""
    first, second = (x.evidence.arm(x.run.arm_id).levels for x in (after, before))
    differing = {name for name in {*first, *second} if first.get(name) != second.get(name)}
    unproven = {x for each in (after, before) for x in each.evidence.unproven.get(each.run.id, ())}
    return tuple(sorted(differing & unproven))


def _differences(after: StoredRun, before: StoredRun) -> LaunchDifferences:
    """In what their launches differ, by the levels of both campaigns."""
    arms = [x.evidence.arm(x.run.arm_id) for x in (after, before)]
    definitions = [x.evidence.campaign.definition for x in (after, before)]
    if any(are_endpoints(each, *arms) for each in definitions):
        return LaunchDifferences()
    launches = [x.evidence.reports.get(x.run.launch_id or 0) for x in (after, before)]
    if launches[0] is None or launches[1] is None:
        return LaunchDifferences()
    return launch_differences(
        [launches[0]],
        [launches[1]],
        declared=frozenset().union(*(declared_between(each, *arms) for each in definitions)),
        implied=frozenset().union(*(implied_between(each, *arms) for each in definitions)),
    )


def _class(outcome: str, corrupt: frozenset[str]) -> OutcomeClass:
    """An outcome that this campaign does not count as corrupt is evidence of none."""
    if outcome in corrupt:
        return OutcomeClass.CORRUPT
    known = Outcome(outcome).outcome_class
    return OutcomeClass.CLEAN if known is OutcomeClass.CORRUPT else known


def _listed(outcomes: frozenset[str]) -> str:
    return ", ".join(sorted(outcomes))
