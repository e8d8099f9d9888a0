"""What `decisive run` leaves behind for the job that called it: JUnit XML, and a summary."""

import os
from dataclasses import dataclass
from pathlib import Path

from db.reads.campaigns import campaign
from db.store import Store
from runner.cli.campaign_summary import MAX_SILENT_SHARE
from runner.cli.console import ExitStatus, tell
from runner.cli.output_files import append_text, write_file
from runner.errors import UsageError
from runner.report.gate_cases import CaseResult, GateCase, gate_cases
from runner.report.gate_summary import gate_summary
from runner.report.junit import junit_xml
from runner.report.markdown import escaped
from runner.report.redaction import Redactor
from runner.report.report_record import CampaignRecord
from runner.report.stored_record import campaign_record
from runner.report.stored_report import ALWAYS_TAKEN_OUT

_WORDS = {
    ExitStatus.FINE: "every registered prediction held, or none was made and nothing bad was seen",
    ExitStatus.SOME_FAILED: "a prediction failed, or corruption or a wedge was seen",
    ExitStatus.USAGE: "the command or a file could not be used",
    ExitStatus.COULD_NOT_SAY: "it could not be said whether the predictions hold",
    ExitStatus.OUR_FAULT: "the campaign was not run to its end, which says nothing of the server",
    ExitStatus.INTERRUPTED: "the campaign was interrupted",
}


@dataclass(frozen=True, slots=True)
class GateFiles:
    """`junit` is replaced; `summary` is added to, as several steps of a job share one."""

    junit: Path | None = None
    summary: Path | None = None

    def check(self) -> None:
        """Raises UsageError now for what could not be written hours later."""
        for path in (self.junit, self.summary):
            if path is None:
                continue
            folder = path.parent
            if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
                raise UsageError(f"cannot write {path}: name a file in a folder that is there")

    def write(
        self,
        store: Store,
        campaign_id: int | None,
        *,
        name: str,
        status: ExitStatus,
        notes: tuple[str, ...] = (),
    ) -> None:
        """`campaign_id` is None where the campaign had not come to be. Raises UsageError."""
        if self.junit is None and self.summary is None:
            return
        record = None if campaign_id is None else _record(store, campaign_id)
        redact = Redactor(ALWAYS_TAKEN_OUT)
        notes = tuple(map(redact, notes))
        ended = f"Exit status {status.value}: {_WORDS[status]}."
        if self.junit is not None:
            cases = _cases(record, name, status, (ended, *notes))
            began_at_us = 0 if record is None else record.campaign.created_at_us
            with write_file(self.junit, force=True) as file:
                file.write(junit_xml(name, cases, began_at_us=began_at_us, redact=redact))
            tell(f"written to {self.junit}")
        if self.summary is not None:
            append_text(self.summary, _summary(record, name, ended, notes, redact) + "\n")


def _cases(
    record: CampaignRecord | None, name: str, status: ExitStatus, notes: tuple[str, ...]
) -> tuple[GateCase, ...]:
    """A campaign that was cut off is an error by itself, whatever its runs so far have shown."""
    found = () if record is None else gate_cases(record, max_silent_share=MAX_SILENT_SHARE)
    is_whole = status in (ExitStatus.FINE, ExitStatus.SOME_FAILED) or len(notes) == 1
    ending = GateCase(
        suite="campaign",
        group=name,
        name="ran to its end",
        result=CaseResult.PASSED if is_whole and record is not None else CaseResult.ERROR,
        kind=status.name.lower(),
        said=" ".join(notes),
        text="\n".join(notes),
    )
    return (*found, ending)


def _summary(
    record: CampaignRecord | None,
    name: str,
    ended: str,
    notes: tuple[str, ...],
    redact: Redactor,
) -> str:
    if record is None:
        return "\n\n".join([f"# {escaped(name)}", *map(escaped, (ended, *notes))]) + "\n"
    return gate_summary(record, ended=ended, notes=notes, redact=redact)


def _record(store: Store, campaign_id: int) -> CampaignRecord | None:
    with store.session() as session:
        facts = campaign(session.connection(), campaign_id)
    return None if facts is None else campaign_record(store, facts)
