"""How a verdict went as runs were added: one row a stored judgement; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.wording import headline_words
from db.reads.campaigns import JudgementFacts
from runner.evidence.wording import count_text, moment_text


def history_rows(judgements: Sequence[JudgementFacts]) -> list[dict[str, str]]:
    """Newest first: when, the headline, and the counts of both arms at that moment."""
    return [
        {
            "judged": moment_text(judgement.decided_at_us),
            "headline": headline_words(judgement.headline),
            "arm": _counts_text(judgement.inputs.get("arm")),
            "compared with": _counts_text(judgement.inputs.get("versus")),
            "method": judgement.method,
        }
        for judgement in reversed(judgements)
    ]


def run_labels(judgement: JudgementFacts, side: str) -> list[str]:
    """The runs of one arm that a judgement was made from, as they are written: `r-3`."""
    return [str(run.get("run", "")) for run in _runs(judgement.inputs.get(side))]


def _counts_text(arm: object) -> str:
    """`3 runs: 93 corrupt of 240, 0 silent`, of the runs that count."""
    done = [run for run in _runs(arm) if run.get("state") == "done"]
    corrupt = sum(_number(run, "corrupt") for run in done)
    silent = sum(_number(run, "silent") for run in done)
    sessions = sum(_number(run, "evidence") for run in done) + silent
    runs = f"{len(done)} run{'' if len(done) == 1 else 's'}"
    return f"{runs}: {count_text(corrupt)} corrupt of {count_text(sessions)}, {silent} silent"


def _runs(arm: object) -> list[Mapping[str, Any]]:
    runs = arm.get("runs") if isinstance(arm, Mapping) else None
    return [run for run in runs if isinstance(run, Mapping)] if isinstance(runs, list) else []


def _number(run: Mapping[str, Any], name: str) -> int:
    value = run.get(name)
    return value if isinstance(value, int) else 0
