"""What the list of campaigns shows of one, summed up once for as long as it stands still; pure."""

from dataclasses import dataclass

from app.campaign_progress import BETWEEN_RUNS_S, Progress, is_settled, progress_of
from app.cell_reading import CellReading, left_out_words, read_cells, worst_cell
from app.records import Board
from app.wording import SECOND_US
from db.reads.campaigns import CampaignFacts, VerdictFacts


@dataclass(frozen=True, slots=True)
class ListedCampaign:
    """`at_rest` is how far it is while nobody asks for it and no run of it has just ended."""

    campaign: CampaignFacts
    verdicts: list[VerdictFacts]
    worst: CellReading | None
    left_out: str
    at_rest: Progress

    def is_at_rest(self, *, now_us: int) -> bool:
        last_us = self.at_rest.last_moved_at_us
        if self.at_rest.active is not None:
            return False
        return last_us is None or now_us - last_us >= BETWEEN_RUNS_S * SECOND_US


def listed(board: Board) -> ListedCampaign:
    return ListedCampaign(
        campaign=board.campaign,
        verdicts=board.verdicts,
        worst=worst_cell(read_cells(board.arms, board.runs, board.campaign.corrupt_outcomes)),
        left_out=left_out_words(board.runs),
        at_rest=progress_of(board.runs, is_settled=is_settled(board.verdicts)),
    )
