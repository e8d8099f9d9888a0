"""What a reduction tells, as lines and as JSON: what it found, on what that rests, what it took."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from db.identifiers import IdKind, format_id
from runner.campaign.file_shape import level_text
from runner.evidence.number_words import counted_text, of_text, share_text
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.wording import duration_text
from runner.reduce.campaign_reduction import Before, ReductionEnd, Spent
from runner.reduce.event_counts import Flips
from runner.reduce.factor_search import NothingToReduce
from runner.reduce.reduction import Reduced, RunSandwich
from runner.reduce.standing import Standing
from runner.reduce.trial import AS_GIVEN, Sandwich, Trial
from runner.reduce.trial_campaign import Ends


def step_line(before: Before) -> str:
    """`8 runs, 320 sessions, 84.9 s so far; to go about 5 to 12 runs, ...: whether a is enough`"""
    if isinstance(before.step, RunSandwich):
        said = "whether it comes back, the clean and the reduced arm in turns"
    else:
        said = before.step.why
    return f"{spent_text(before.spent)} so far; to go about {_to_go_text(before)}: {said}"


def spent_text(spent: Spent) -> str:
    runs, sessions = counted_text(spent.runs, "run"), counted_text(spent.sessions, "session")
    return f"{runs}, {sessions}, {duration_text(spent.seconds)}"


def account_lines(end: ReductionEnd, ends: Ends) -> Iterator[str]:
    found = end.found
    if isinstance(found, Reduced):
        yield _headline(found, ends)
        yield from _load_lines(found, ends)
        yield from _need_lines(found, end, ends)
        yield from _sandwich_lines(found, end, ends)
    elif isinstance(found, NothingToReduce):
        yield f"Nothing to reduce: {found.because}."
    elif end.failed is not None:
        yield f"Not found: the last run came to nothing ({end.failed})."
    for trial, why in end.barred.items():
        if why != EXCLUDED or _is_of_interest(trial, found):
            yield f"Could not be run: {change_text(trial, ends)} ({why})."
    yield from _silence_lines(end, ends)
    yield f"It took {spent_text(end.spent)}."


EXCLUDED = "the campaign excludes it"


def is_shown(end: ReductionEnd) -> bool:
    """Whether the smallest change is shown: each factor is needed, and it came back."""
    found = end.found
    return isinstance(found, Reduced) and found.smallest.is_decided and found.holds is True


def account_json(end: ReductionEnd, ends: Ends) -> dict[str, Any]:
    found = end.found
    return {
        "campaign": ends.campaign.name,
        "flips": str(ends.flips),
        "shown": is_shown(end),
        "change": _change_json(found, ends) if isinstance(found, Reduced) else None,
        "load": dict(found.load.amounts()) if isinstance(found, Reduced) else None,
        "sandwich_holds": found.holds if isinstance(found, Reduced) else None,
        "because": found.because if isinstance(found, NothingToReduce) else end.failed,
        "clean_below": end.p_max,
        "arms": [_arm_json(trial, end) for trial in end.stored.trials],
        "runs": end.spent.runs,
        "sessions": end.spent.sessions,
        "seconds": round(end.spent.seconds, 1),
    }


def change_text(trial: Trial | Sandwich, ends: Ends) -> str:
    """`index_keys fp8 → bf16, hicache off → on`"""
    return ", ".join(_arrow(name, ends) for name in ends.factors if name in trial.change) or (
        "nothing changed"
    )


def _arrow(name: str, ends: Ends) -> str:
    return f"{name} {level_text(ends.clean[name])} → {level_text(ends.failing[name])}"


def _headline(found: Reduced, ends: Ends) -> str:
    kept, of = len(found.smallest.change), len(ends.factors)
    what = change_text(Sandwich(found.smallest.change, found.load), ends)
    factors = f"{kept} of {counted_text(of, 'factor')}"
    if found.smallest.is_decided and found.holds:
        return f"Smallest change that flips clean to {_flipped(ends)} ({factors}): {what}."
    return f"Not shown; what is left ({factors}): {what}."


def _flipped(ends: Ends) -> str:
    words = {Flips.CORRUPT: "corrupt", Flips.WEDGE: "wedged", Flips.SILENT: "silent"}
    return words[ends.flips]


def _load_lines(found: Reduced, ends: Ends) -> Iterator[str]:
    lowered = [f"{name} {amount}" for name, amount in found.load.amounts()]
    if lowered:
        yield f"It still does at a smaller load: {', '.join(lowered)}."


def _need_lines(found: Reduced, end: ReductionEnd, ends: Ends) -> Iterator[str]:
    kept = found.smallest.change
    for name, stands in found.smallest.without.items():
        rest = Trial(kept - {name})
        if stands is Standing.BARRED:
            why = end.barred.get(rest, "it cannot be run")
            yield f"{name}: nobody can say whether it is needed ({why})."
        elif stands is not Standing.CLEAN:
            yield f"{name}: not decided. Without it: {_seen_text(rest, end, ends)}."
        else:
            seen = _seen_text(rest, end, ends) + _also(name, rest, end, ends)
            yield f"{name} is needed. Without it: {seen}."


def _seen_text(trial: Trial, end: ReductionEnd, ends: Ends) -> str:
    runs = [run.counts for run in end.stored.trials.get(trial, ())]
    said = _events_text(runs, ends)
    return said if ends.flips is Flips.WEDGE else f"{said} in {counted_text(len(runs), 'run')}"


def _also(name: str, rest: Trial, end: ReductionEnd, ends: Ends) -> str:
    """The arms with more changes, but not this one, which spoke for it too."""
    more = [
        run.counts
        for trial, runs in end.stored.trials.items()
        if trial.load == AS_GIVEN and trial.change > rest.change and name not in trial.change
        for run in runs
    ]
    if not more:
        return ""
    return f"; with further changes but not this one: {_events_text(more, ends)}"


def _events_text(runs: Sequence[LaunchCounts], ends: Ends) -> str:
    events, evidence = sum(run.corrupt for run in runs), sum(run.evidence for run in runs)
    return f"{of_text(events, evidence)} {ends.flips.events}"


def _sandwich_lines(found: Reduced, end: ReductionEnd, ends: Ends) -> Iterator[str]:
    sandwich = Sandwich(found.smallest.change, found.load)
    turns = [
        f"{_events_text([run], ends)} {where}"
        for clean, reduced in zip(found.fresh.clean, found.fresh.reduced, strict=False)
        for run, where in ((clean, "before"), (reduced, "with the change"))
    ]
    words = {
        True: "It came back in fresh runs",
        False: "It did not come back in fresh runs",
        None: "Fresh runs could not decide",
    }
    yield f"{words[found.holds]}: {'; '.join(turns)}."
    if sandwich in end.stored.campaign_ids:
        name = format_id(IdKind.CAMPAIGN, end.stored.campaign_ids[sandwich])
        yield f"Those are campaign {name}: `decisive show {name}`."
    yield f"An arm counts as clean here below a rate of {share_text(end.p_max)}."


def _silence_lines(end: ReductionEnd, ends: Ends) -> Iterator[str]:
    """A clean arm with silent sessions rests on those that spoke, and a reader must know."""
    for trial, runs in end.stored.trials.items():
        silent = sum(run.counts.silent for run in runs)
        stands = end.standings.get(trial.change)
        if silent and trial.load == AS_GIVEN and stands is not None and stands.seems_clean:
            of = of_text(silent, sum(run.counts.sessions for run in runs))
            yield (
                f"Clean among those that gave evidence, but {of} were silent: "
                f"{change_text(trial, ends)}. Silence may hide what is looked for."
            )


def _is_of_interest(trial: Trial, found: object) -> bool:
    """An excluded arm is told of where it kept a factor from being decided."""
    if not isinstance(found, Reduced):
        return False
    return any(
        stands is Standing.BARRED and trial.change == found.smallest.change - {name}
        for name, stands in found.smallest.without.items()
    )


def _to_go_text(before: Before) -> str:
    least, most = before.to_go
    runs = counted_text(least, "run") if least == most else f"{least} to {most} runs"
    each_s = before.spent.each_s
    if each_s is None:
        return runs
    if least == most:
        return f"{runs}, {duration_text(least * each_s)}"
    return f"{runs}, {duration_text(least * each_s)} to {duration_text(most * each_s)}"


def _change_json(found: Reduced, ends: Ends) -> dict[str, Mapping[str, Any]]:
    return {
        name: {
            "from": ends.clean[name],
            "to": ends.failing[name],
            "without": str(found.smallest.without[name]),
        }
        for name in ends.factors
        if name in found.smallest.change
    }


def _arm_json(trial: Trial, end: ReductionEnd) -> dict[str, Any]:
    runs = end.stored.trials[trial]
    return {
        "change": sorted(trial.change),
        "load": dict(trial.load.amounts()),
        "campaign": format_id(IdKind.CAMPAIGN, end.stored.campaign_ids[trial]),
        "runs": len(runs),
        "events": sum(run.counts.corrupt for run in runs),
        "evidence": sum(run.counts.evidence for run in runs),
        "silent": sum(run.counts.silent for run in runs),
    }
