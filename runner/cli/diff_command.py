"""`decisive diff`: in what two campaigns, arms, runs or sessions differ, and where they part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from db.reads.campaigns import CampaignFacts, arms, campaign_definition
from db.reads.observations import log_event_counts
from db.reads.runs import RunCounts, runs
from db.store import Store, open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from db.vocabulary import RunState
from runner.cli.console import say, say_json
from runner.cli.diff_subjects import (
    ArmSubject,
    CampaignSubject,
    RunSubject,
    SessionSubject,
    Subject,
    find_subject,
)
from runner.cli.diff_text import (
    config_json,
    config_lines,
    divergence_json,
    indented,
    log_lines,
    pattern_json,
    turn_lines,
    turns_json,
)
from runner.cli.options import JsonOption, StoreOption
from runner.cli.stored_difference import (
    config_side,
    fingerprints_apart,
    session_divergence,
)
from runner.difference.configuration import ConfigRow, config_rows, definition_rows
from runner.difference.divergence_words import divergence_lines, pattern_lines
from runner.difference.stored_pattern import pattern_of_runs
from runner.errors import UsageError
from runner.evidence.counts import pooled
from runner.evidence.wording import corrupt_text, evidence_text
from runner.execute.run_counts import counts_of

_SIDE = typer.Argument(help="c-1, a-4 or the name of an arm, r-3, s-17.", show_default=False)


@dataclass(frozen=True, slots=True)
class Said:
    """The result for people and for scripts."""

    lines: list[str]
    json: Mapping[str, Any]


def diff(
    a: Annotated[str, _SIDE],
    b: Annotated[str, _SIDE],
    campaign: Annotated[
        str | None, typer.Option(help="Where names of arms are looked for; else the newest.")
    ] = None,
    store_url: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Lay two campaigns, arms, runs or sessions side by side: settings, logs, transcripts.

    `compare` is for what the counts of two runs say. Here the same dialogues of both sides are
    paired, and told is where their answers part first and what stood before.
    """
    with open_store_read_only(store_url) as store:
        first, second = (find_subject(store, text, within=campaign) for text in (a, b))
        if first == second:
            raise UsageError(f"{a} and {b} are the same {_kind(first)}: name two")
        said = _difference(store, first, second)
    if as_json:
        say_json({"kind": _kind(first), "a": first.label, "b": second.label, **said.json})
        return
    say(f"A = {first.label}, B = {second.label}")
    for line in said.lines:
        say(line)


def _difference(store: Store, a: Subject, b: Subject) -> Said:
    with store.session() as session:
        connection = session.connection()
        if isinstance(a, CampaignSubject) and isinstance(b, CampaignSubject):
            return _of_campaigns(connection, a, b)
        if isinstance(a, ArmSubject) and isinstance(b, ArmSubject):
            return _of_arms(connection, a, b)
        if isinstance(a, RunSubject) and isinstance(b, RunSubject):
            return _of_runs(connection, a, b)
        if isinstance(a, SessionSubject) and isinstance(b, SessionSubject):
            return _of_sessions(connection, a, b)
    raise UsageError(
        f"{a.label} names one {_kind(a)} and {b.label} one {_kind(b)}: only two of a kind can be "
        "laid side by side"
    )


def _of_campaigns(connection: Connection, a: CampaignSubject, b: CampaignSubject) -> Said:
    rows = definition_rows(
        *(campaign_definition(connection, each.campaign.id) or {} for each in (a, b))
    )
    sides = [_arms_by_name(connection, each.campaign) for each in (a, b)]
    both = [name for name in sides[0] if name in sides[1]]
    only = [[name for name in sides[x] if name not in sides[1 - x]] for x in (0, 1)]
    said = fingerprints_apart(
        connection, *([run for name in both for run in side[name].runs] for side in sides)
    )
    lines = config_lines(rows)
    lines.append(f"Arms: {len(both)} in both.")
    for name in both:
        lines += [_counts_line(x, side[name]) for x, side in zip("AB", sides, strict=True)]
    for x, few in zip("AB", only, strict=True):
        lines += [f"  only in {x}: {name}" for name in few]
    if both:
        lines.append(
            f"Servers of the arms in both: {len(said)} things that they say of themselves differ."
        )
        lines += [f"  {each}" for each in said]
    told = {"arms": {"both": both, "only_a": only[0], "only_b": only[1]}, "servers": list(said)}
    return Said(lines, {"configuration": config_json(rows), **told})


def _arms_by_name(connection: Connection, facts: CampaignFacts) -> dict[str, ArmSubject]:
    every = runs(connection, [facts.id])
    return {
        arm.name: ArmSubject(facts, arm, tuple(run for run in every if run.arm_id == arm.id))
        for arm in arms(connection, [facts.id])
    }


def _of_arms(
    connection: Connection, a: ArmSubject, b: ArmSubject, *, again: Sequence[RunCounts] = ()
) -> Said:
    """`again`: more runs of the arm of B, which no run of A is paired with."""
    firsts = [
        next((run for run in each.runs if run.launch_id is not None), None) for each in (a, b)
    ]
    rows = config_rows(
        config_side(connection, a.arm, firsts[0]), config_side(connection, b.arm, firsts[1])
    )
    pattern = pattern_of_runs(
        connection,
        a.runs,
        b.runs,
        again=again or b.runs,
        corrupt=[str(x) for x in a.campaign.corrupt_outcomes],
    )
    counts = [_counts_line(name, each) for name, each in (("A", a), ("B", b))]
    lines = [*counts, *config_lines(rows), "First divergence of the same dialogues:"]
    lines += indented(pattern_lines(pattern, arm="A", reference="B"))
    for example in pattern.examples[:1]:
        lines += ["An example:", *indented(divergence_lines(example.divergence))]
    return Said(lines, {"configuration": config_json(rows), "divergence": pattern_json(pattern)})


def _of_runs(connection: Connection, a: RunSubject, b: RunSubject) -> Said:
    own = ArmSubject(a.campaign, a.arm, (a.run,))
    other = ArmSubject(b.campaign, b.arm, (b.run,))
    same_arm = [x for x in runs(connection, [b.campaign.id]) if x.arm_id == b.arm.id]
    said = _of_arms(connection, own, other, again=same_arm)
    logs = [log_event_counts(connection, each.run.id) for each in (a, b)]
    names = [
        f"{side}: {each.arm.name}, block {each.run.block}" for side, each in (("A", a), ("B", b))
    ]
    events = [frame.to_dict("records") for frame in logs]
    return Said(
        [*names, *said.lines, *log_lines(*logs)],
        {**said.json, "log_events": {"a": events[0], "b": events[1]}},
    )


def _of_sessions(connection: Connection, a: SessionSubject, b: SessionSubject) -> Said:
    found, first, second = session_divergence(connection, a.session.id, b.session.id)
    rows = _session_rows(connection, a, b)
    lines = [
        f"{side}: {each.session.outcome}, {each.of.label}, {each.of.arm.name}"
        for side, each in (("A", a), ("B", b))
    ]
    if a.session.dialogue_key != b.session.dialogue_key:
        lines.append(
            "They played different dialogues, so that no more than the form is comparable."
        )
    lines += config_lines(rows)
    lines += turn_lines(first, second, None if found is None else found.turn_index)
    lines += divergence_lines(found)
    return Said(
        lines,
        {
            "same_dialogue": a.session.dialogue_key == b.session.dialogue_key,
            "configuration": config_json(rows),
            "divergence": divergence_json(found),
            "turns": turns_json(first, second),
        },
    )


def _session_rows(connection: Connection, a: SessionSubject, b: SessionSubject) -> list[ConfigRow]:
    return config_rows(*(config_side(connection, each.of.arm, each.of.run) for each in (a, b)))


def _launched(runs: Sequence[RunCounts]) -> RunCounts | None:
    return next((run for run in runs if run.launch_id is not None), None)


def _counts_line(name: str, subject: ArmSubject) -> str:
    corrupt = [str(x) for x in subject.campaign.corrupt_outcomes]
    done: list[RunCounts] = [run for run in subject.runs if run.run_state is RunState.DONE]
    counts = pooled((counts_of(run, corrupt) for run in done), corrupt=corrupt)
    if not done:
        return f"{name}: {subject.arm.name}: no run is done"
    if not counts.all:
        return f"{name}: {subject.arm.name}: no session can be judged"
    return f"{name}: {subject.arm.name}: corrupt {corrupt_text(counts)}; {evidence_text(counts)}"


def _kind(subject: Subject) -> str:
    return type(subject).__name__.removesuffix("Subject").lower()
