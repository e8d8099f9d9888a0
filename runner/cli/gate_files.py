"""What `decisive run` leaves behind for the job that called it: JUnit XML, and a summary."""

import os
from collections.abc import Mapping
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

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"

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
        if Path("-") in (self.junit, self.summary):
            raise UsageError("--junit and --summary name files: standard output has the tables")
        for path, is_replaced in ((self.junit, True), (self.summary, False)):
            if path is not None and not _is_writable(path, is_replaced=is_replaced):
                raise UsageError(f"cannot write {path}: name a file in a folder that is there")
        if self.junit and self.summary and _is_one(self.junit, self.summary):
            raise UsageError(f"JUnit and summary would both be {self.junit}: name two files")

    def write(
        self,
        store: Store,
        campaign_id: int | None,
        *,
        name: str,
        status: ExitStatus,
        notes: tuple[str, ...] = (),
    ) -> None:
        """`campaign_id` is None where the campaign had not come to be. The summary is
        written also where JUnit could not be. Raises UsageError.
        """
        if self.junit is None and self.summary is None:
            return
        record = None if campaign_id is None else _record(store, campaign_id)
        redact = Redactor(ALWAYS_TAKEN_OUT)
        notes = tuple(map(redact, notes))
        try:
            if self.junit is not None:
                cases = _cases(record, name, status, (_ended(status), *notes))
                began_at_us = 0 if record is None else record.campaign.created_at_us
                with write_file(self.junit, force=True) as file:
                    file.write(junit_xml(name, cases, began_at_us=began_at_us, redact=redact))
                tell(f"written to {self.junit}")
        finally:
            if self.summary is not None:
                append_text(self.summary, _summary(record, name, status, notes, redact) + "\n")


def summary_of_job(environment: Mapping[str, str]) -> Path | None:
    """Where GitHub Actions takes the summary of a step; None elsewhere, and told where it is out of
    reach, as in a container: a campaign is not held up by it.
    """
    named = environment.get(SUMMARY_VARIABLE)
    if not named:
        return None
    if _is_writable(Path(named), is_replaced=False):
        return Path(named)
    tell(f"no summary of the job: {named}, which {SUMMARY_VARIABLE} names, cannot be written")
    return None


def _is_writable(path: Path, *, is_replaced: bool) -> bool:
    """`is_replaced`: by another file of its folder, which is what has to be writable then."""
    folder = path.parent
    is_special = path.exists() and not path.is_file()
    if is_special or (path.exists() and not is_replaced):
        return not path.is_dir() and os.access(path, os.W_OK)
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _is_one(a: Path, b: Path) -> bool:
    """Of special files, such as /dev/null, two may well be one."""
    return a.resolve() == b.resolve() and (a.is_file() or not a.exists())


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


def _ended(status: ExitStatus) -> str:
    return f"Exit status {status.value}: {_WORDS[status]}."


def _summary(
    record: CampaignRecord | None,
    name: str,
    status: ExitStatus,
    notes: tuple[str, ...],
    redact: Redactor,
) -> str:
    ended = _ended(status)
    if record is None:
        return "\n\n".join([f"# {escaped(name)}", *map(escaped, (ended, *notes))]) + "\n"
    is_fine = status is ExitStatus.FINE
    return gate_summary(record, ended=ended, is_fine=is_fine, notes=notes, redact=redact)


def _record(store: Store, campaign_id: int) -> CampaignRecord | None:
    with store.session() as session:
        facts = campaign(session.connection(), campaign_id)
    return None if facts is None else campaign_record(store, facts)
