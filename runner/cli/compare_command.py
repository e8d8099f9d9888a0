"""`decisive compare`: two arms by typed counts, or two stored runs, judged by the same code."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from db.store import open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import say, say_json
from runner.cli.counted_verdict import judge_counts, say_comparison, verdict_json
from runner.cli.options import JsonOption, StoreOption
from runner.cli.stored_comparison import (
    FlippedDialogue,
    StoredRun,
    find_runs,
    is_run_id,
    pair_runs,
    question_of_runs,
)
from runner.errors import UsageError
from runner.evidence.count_notation import parse_arms
from runner.evidence.counts_question import question_of_counts
from runner.evidence.number_words import counted_text, p_text
from runner.evidence.paired_sessions import (
    PairedSessions,
    mcnemar_less,
    mcnemar_less_worst_case,
    mcnemar_two_sided,
)

_MOST_SAID = 5


def compare(
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="Corrupt/sessions (5/80, 3/80+2/80) or a run.")
    ],
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="What it is compared with.")],
    silent: Annotated[
        str | None,
        typer.Option(metavar="AFTER,BEFORE", help="Sessions that gave no evidence: 75,0."),
    ] = None,
    store: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Compare counts (5/80 12/80) or two stored runs (r-7 r-3), which is exploratory."""
    named = [is_run_id(text) for text in (after, before)]
    if all(named):
        if silent is not None:
            raise UsageError("--silent goes with typed counts: stored runs know theirs")
        _compare_runs(after, before, store=store, as_json=as_json)
    elif any(named):
        raise UsageError(f"{after} and {before} are no pair: give two counts or two runs")
    else:
        _compare_counts(after, before, silent=silent, as_json=as_json)


def _compare_counts(after: str, before: str, *, silent: str | None, as_json: bool) -> None:
    question = question_of_counts(*parse_arms(after, before, silent=silent))
    verdict = judge_counts(question)
    if as_json:
        say_json(verdict_json(verdict))
    else:
        say_comparison(question, verdict)


def _compare_runs(first: str, second: str, *, store: str, as_json: bool) -> None:
    with open_store_read_only(store) as opened:
        after, before = find_runs(opened, first, second)
        question = question_of_runs(after, before)
        verdict = judge_counts(question)
        pairs, flipped = pair_runs(opened, after, before)
    if as_json:
        runs = {"after": _run_json(after), "before": _run_json(before)}
        say_json({"runs": runs, **verdict_json(verdict), "paired": _paired_json(pairs, flipped)})
        return
    roles = [_role_text("after", after), _role_text("before", before)]
    say_comparison(question, verdict, roles=roles)
    for line in _paired_lines(pairs, flipped, after=after.label, before=before.label):
        say(line)


def _role_text(role: str, stored: StoredRun) -> str:
    run = stored.run
    reason = f": {run.reason}" if run.reason else ""
    return f"{role} is {stored.label} ({stored.arm_name}, block {run.block}, {run.state}{reason})"


def _paired_lines(
    pairs: PairedSessions, flipped: Sequence[FlippedDialogue], *, after: str, before: str
) -> list[str]:
    gave = pairs.both_clean + pairs.both_corrupt + pairs.discordant
    if not gave + pairs.silent_pairs:
        return ["Paired: the runs have no dialogue in common."]
    lines = [
        f"Paired: of {counted_text(gave, 'dialogue')} that gave evidence in both runs, "
        f"{pairs.both_clean:,} were clean in both, {pairs.both_corrupt:,} corrupt in both, "
        f"{pairs.only_first_corrupt:,} corrupt in {after} only, "
        f"{pairs.only_second_corrupt:,} in {before} only; "
        f"{counted_text(pairs.silent_pairs, 'further pair')} silent in at least one.",
        f"Exact McNemar {p_text(mcnemar_less(pairs))} for fewer, "
        f"{p_text(mcnemar_less_worst_case(pairs))} with every silent pair against it: it finds "
        "which dialogues changed and decides nothing, because sessions of one run are correlated.",
    ]
    if flipped:
        shown = ", ".join(
            f"{each.first} {each.first_outcome} v {each.second} {each.second_outcome}"
            for each in flipped[:_MOST_SAID]
        )
        more = len(flipped) - _MOST_SAID
        lines.append(f"Changed: {shown}{f' and {more:,} more' if more > 0 else ''}")
    return lines


def _run_json(stored: StoredRun) -> dict[str, Any]:
    return {
        "run": stored.label,
        "arm": stored.arm_name,
        "block": stored.run.block,
        "state": stored.run.state,
        "reason": stored.run.reason,
    }


def _paired_json(pairs: PairedSessions, flipped: Sequence[FlippedDialogue]) -> dict[str, Any]:
    return {
        "both_clean": pairs.both_clean,
        "both_corrupt": pairs.both_corrupt,
        "only_after_corrupt": pairs.only_first_corrupt,
        "only_before_corrupt": pairs.only_second_corrupt,
        "silent_pairs": pairs.silent_pairs,
        "mcnemar_less": mcnemar_less(pairs),
        "mcnemar_less_worst_case": mcnemar_less_worst_case(pairs),
        "mcnemar_two_sided": mcnemar_two_sided(pairs),
        "changed": [each._asdict() for each in flipped],
    }
