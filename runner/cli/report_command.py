"""`decisive report`: a campaign as Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from db.store import open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import say, say_json, tell
from runner.cli.opening import find_stored_campaign
from runner.cli.options import CampaignReference, JsonOption, StoreOption
from runner.errors import UsageError
from runner.report.campaign_report import campaign_report
from runner.report.markdown import to_markdown
from runner.report.stored_record import campaign_record


def report(
    campaign: CampaignReference = None,
    store: StoreOption = DEFAULT_STORE_URL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file instead of standard output.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report on a campaign as Markdown."""
    with open_store_read_only(store) as opened:
        facts = find_stored_campaign(opened, campaign)
        text = to_markdown(campaign_report(campaign_record(opened, facts)))
    if output is not None:
        _write(output, text)
    if as_json:
        say_json({"campaign": facts.name, "format": "markdown", "text": text})
    elif output is None:
        say(text.rstrip("\n"))


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error
    tell(f"written to {output}")
