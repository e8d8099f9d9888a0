"""The shipped catalogue and short ways to read a log with it."""

from pathlib import Path

from runner.campaign.config_folder import ConfigFolder
from runner.observe.event_catalogue import load_catalogue
from runner.observe.log_findings import LogFinding
from runner.observe.log_reading import LogReading, read_log
from runner.observe.log_records import LogRecord, RecordList
from runner.observe.own_ends import OwnEnds

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
CATALOGUE = load_catalogue(ConfigFolder(CONFIGS).event_files())


def records(log: str | bytes, *, year: int = 2026) -> list[LogRecord]:
    content = log.encode("utf-8", "surrogatepass") if isinstance(log, str) else log
    return RecordList.of(content, year=year).records


def read(log: str | bytes, *, own: OwnEnds | None = None) -> LogReading:
    return read_log(records(log), CATALOGUE, own)


def kinds(reading: LogReading) -> dict[str, str]:
    """Kind -> class."""
    return {finding.kind: str(finding.event_class) for finding in reading.findings}


def only(reading: LogReading, kind: str) -> LogFinding:
    (finding,) = [each for each in reading.findings if each.kind == kind]
    return finding
