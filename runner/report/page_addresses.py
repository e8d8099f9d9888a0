"""Where the pages of the dashboard are, from its root: a number of a report leads to its page."""

import re

from db.identifiers import IdKind, format_id
from runner.report.document import Link, Span, Words

_IDS_IN_TEXT = re.compile(r"\b([crs])-([1-9]\d{0,17})\b")
_PAGE_OF = {"c": "overview?campaign", "r": "run?run", "s": "session?session"}


def campaign_page(campaign_id: int) -> str:
    return f"/overview?campaign={format_id(IdKind.CAMPAIGN, campaign_id)}"


def matrix_page(campaign_id: int) -> str:
    return f"/matrix?campaign={format_id(IdKind.CAMPAIGN, campaign_id)}"


def arm_page(arm_id: int) -> str:
    return f"/arm?arm={format_id(IdKind.ARM, arm_id)}"


def run_page(run_id: int) -> str:
    return f"/run?run={format_id(IdKind.RUN, run_id)}"


def logs_page(run_id: int) -> str:
    return f"/logs?run={format_id(IdKind.RUN, run_id)}"


def session_page(session_id: int) -> str:
    return f"/session?session={format_id(IdKind.SESSION, session_id)}"


def verdict_page(campaign_id: int, hypothesis_id: int) -> str:
    campaign = format_id(IdKind.CAMPAIGN, campaign_id)
    return f"/verdicts?campaign={campaign}&hypothesis={format_id(IdKind.HYPOTHESIS, hypothesis_id)}"


def run_link(run_id: int) -> Link:
    return Link(format_id(IdKind.RUN, run_id), run_page(run_id))


def session_link(session_id: int) -> Link:
    return Link(format_id(IdKind.SESSION, session_id), session_page(session_id))


def linked(sentence: str) -> Words:
    """One of our own sentences, in which the ids of campaigns, runs and sessions are links."""
    spans: list[Span] = []
    end = 0
    for match in _IDS_IN_TEXT.finditer(sentence):
        spans += [sentence[end : match.start()]] if match.start() > end else []
        spans.append(Link(match[0], f"/{_PAGE_OF[match[1]]}={match[0]}"))
        end = match.end()
    if not spans:
        return sentence
    return (*spans, sentence[end:]) if end < len(sentence) else tuple(spans)
