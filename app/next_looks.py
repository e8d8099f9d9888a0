"""What to look at next in a campaign: at most three places, the most telling first; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.cell_reading import CellReading
from app.links import Place, RunPlace, SessionPlace, VerdictsPlace
from app.stored_verdict import read_verdict
from app.wording import counted_noun, outcome_word
from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts, VerdictFacts
from db.reads.runs import RunCounts
from db.reads.sessions import SessionFacts
from db.vocabulary import Headline, RunState

MOST = 3


@dataclass(frozen=True, slots=True)
class NextLook:
    """Where, in a few words, and why."""

    place: Place
    label: str
    why: str


def next_looks(
    *,
    campaign: CampaignFacts,
    cells: Sequence[CellReading],
    runs: Sequence[RunCounts],
    verdicts: Sequence[VerdictFacts],
    first_corrupt: SessionFacts | None,
) -> list[NextLook]:
    found = [
        *_corrupt(campaign, cells, first_corrupt),
        *_wedged(cells),
        *_experiment(verdicts),
        *_left_out(runs),
    ]
    return found[:MOST]


def worst_corrupt_cell(cells: Sequence[CellReading]) -> CellReading | None:
    corrupt = [cell for cell in cells if cell.counts.corrupt]
    return max(corrupt, key=lambda cell: (cell.rate, cell.counts.all), default=None)


def _corrupt(
    campaign: CampaignFacts, cells: Sequence[CellReading], first: SessionFacts | None
) -> list[NextLook]:
    cell = worst_corrupt_cell(cells)
    if cell is None or first is None:
        return []
    number = counted_noun(cell.counts.corrupt, "corrupt session")
    turn = "" if first.decisive_turn is None else f", turn {first.decisive_turn + 1}"
    said = first.detail or f"{outcome_word(first.outcome)} in {campaign.name}"
    return [
        NextLook(
            SessionPlace(session=first.id, q=f"run:{first.run_id} outcome:corrupt"),
            f"Open {format_id(IdKind.SESSION, first.id)}, first of {number}",
            f"{cell.arm.name}{turn}: {said}",
        )
    ]


def _wedged(cells: Sequence[CellReading]) -> list[NextLook]:
    runs = [run for cell in cells for run in cell.done if run.wedges or run.wedge_requests]
    if not runs:
        return []
    worst = max(runs, key=lambda run: (run.wedges or 0, run.wedge_requests))
    spans = f"{counted_noun(worst.wedges, 'span')}, " if worst.wedges else ""
    requests = counted_noun(worst.wedge_requests, "request")
    return [
        NextLook(
            RunPlace(run=worst.id),
            f"See where {format_id(IdKind.RUN, worst.id)} wedged",
            f"{spans}{requests} caught, {worst.n_error} of {worst.n_ended} sessions silent.",
        )
    ]


def _experiment(verdicts: Sequence[VerdictFacts]) -> list[NextLook]:
    """The first next step of a hypothesis that is not settled."""
    for facts in verdicts:
        verdict = read_verdict(facts)
        if verdict is None or not verdict.next_steps or facts.headline == Headline.CONFIRMED:
            continue
        place = VerdictsPlace(campaign=facts.campaign_id, hypothesis=facts.hypothesis_id)
        what = "Decide" if facts.headline == Headline.INCONCLUSIVE else "Follow up"
        return [NextLook(place, f"{what} {facts.slug}", verdict.next_steps[0])]
    return []


def _left_out(runs: Sequence[RunCounts]) -> list[NextLook]:
    bad = [run for run in runs if run.run_state in (RunState.INVALID, RunState.FAILED)]
    if not bad:
        return []
    last = bad[-1]
    became = "failed" if last.run_state is RunState.FAILED else "is invalid"
    words = f"See why {format_id(IdKind.RUN, last.id)} {became}"
    return [NextLook(RunPlace(run=last.id), words, _first_line(last.reason))]


def _first_line(reason: str | None) -> str:
    """A server that did not start leaves the end of its log below it."""
    return (reason or "No reason was recorded.").partition("\n")[0]
