"""Puts the runs of a result file into a store; the campaign is named by whoever imports them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from db.imported_runs import NewImportedRun, add_imported_run
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import Outcome
from runner.evidence.number_words import counted_text
from runner.imported.imported_run import ImportedRun, as_date_s
from runner.imported.imported_sessions import imported_sessions
from runner.sessions.record_rows import to_ended_session
from runner.stacks.fingerprint import own_version

CORRUPT = (Outcome.LEAK, Outcome.MALFORMED)
"""What counts where it is not known what was due: whether a call was, and with which values."""

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportAs:
    """Under which names runs enter: `arm` None is named after the tool and the model."""

    campaign: str
    arm: str | None
    levels: Mapping[str, str]
    source_path: str


def store_imported(
    store: Store, runs: Sequence[ImportedRun], content: str, as_: ImportAs
) -> list[RunRow]:
    """Raises DuplicateImportError; the runs before the one that is there already are kept."""
    digest = sha256(content.encode()).hexdigest()[:32]
    return [
        add_imported_run(store, _new(run, f"{digest}-{number}", as_))
        for number, run in enumerate(runs)
    ]


def coverage_text(run: ImportedRun) -> str:
    """One sentence: which tool, how many requests, and what its file does not say."""
    if run.counts is not None:
        sessions = counted_text(sum(run.counts.values()), "session")
        return f"Imported from printed lines: {sessions} by outcome, and nothing of any of them."
    made = counted_text(
        run.requests_made if run.requests_made is not None else len(run.requests), "request"
    )
    if run.requests_failed is None and not run.requests:
        made += ", not counting those that failed, which it does not tell"
    told = sum(each.is_told and not each.was_cancelled for each in run.requests)
    cut = sum(each.was_cancelled for each in run.requests)
    left = f"; {counted_text(cut, 'request')} that it cut off itself left out" if cut else ""
    return (
        f"Imported from {run.tool}: {made}; {f'{told:,}' if told else 'none'} of them with an "
        f"answer or error in the file that can be judged{left}. What was due in them is not known."
    )


def _new(run: ImportedRun, key: str, as_: ImportAs) -> NewImportedRun:
    model = {} if run.model is None else {"model": run.model}
    concurrency = {} if run.concurrency is None else {"concurrency": run.concurrency}
    arm = as_.arm or " · ".join(
        [run.tool, *model.values(), *(f"C={n}" for n in concurrency.values())]
    )
    started_us = _microseconds(as_date_s(run.started_at_s))
    return NewImportedRun(
        campaign=as_.campaign,
        corrupt_outcomes=CORRUPT if run.counts is None else _all_corrupt(),
        arm=arm,
        levels={"tool": run.tool, **model, **as_.levels, **concurrency},
        concurrency=run.concurrency,
        run_key=key,
        source_path=as_.source_path,
        said=coverage_text(run),
        sessions_planned=_planned(run),
        started_at_us=started_us,
        ended_at_us=_microseconds(as_date_s(_end_s(run))),
        wall_s=run.duration_s,
        figures=_figures(run),
        code_version=own_version(),
        sessions_of=lambda run_id: [
            to_ended_session(each, run_id=run_id) for each in imported_sessions(run, run_id=run_id)
        ],
        counts=run.counts or {},
        wedge_lines=run.wedge_lines or 0,
        wedge_requests=run.wedge_requests or run.wedge_lines or 0,
        peak_running=run.peak_running,
    )


def _planned(run: ImportedRun) -> int:
    if run.counts is not None:
        return sum(run.counts.values())
    conversations = {each.conversation for each in run.requests if each.conversation is not None}
    return len(conversations) or run.requests_made or len(run.requests)


def _all_corrupt() -> tuple[Outcome, ...]:
    return tuple(outcome for outcome in Outcome if outcome.outcome_class == "corrupt")


def _figures(run: ImportedRun) -> dict[str, Any]:
    return {
        "tool": run.tool,
        "settings": dict(run.settings),
        "figures": dict(run.figures),
        "requests": run.requests_made,
        "failed": run.requests_failed,
    }


def _end_s(run: ImportedRun) -> float | None:
    if run.started_at_s is None or run.duration_s is None:
        return None
    return run.started_at_s + run.duration_s


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * _SECOND_US)
