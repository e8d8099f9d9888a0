"""Where the log of a service of a stack is read; reads nothing itself."""

from pathlib import Path

from runner.campaign.stack_shape import LogSource as LogOrigin
from runner.control.secrets import HidingStream, Secrets
from runner.observe.journal_follower import JournalFollower
from runner.observe.log_follower import READ_LIMIT_BYTES, CommandFollower, FileFollower, LogSource
from runner.stacks.service_control import host_of
from runner.stacks.service_launch import ServiceLaunch


def log_source_of(
    launch: ServiceLaunch, process_log: Path | None, *, from_end: bool = True
) -> LogSource | None:
    """What follows the log of a service from now on, or a file from its start."""
    definition = launch.definition
    if definition.log is LogOrigin.PROCESS and process_log is not None:
        return FileFollower(process_log, from_end=from_end)
    if definition.log is LogOrigin.FILE and definition.log_file is not None:
        return FileFollower(Path(definition.log_file), from_end=True)
    if definition.log is LogOrigin.COMMAND:
        return CommandFollower(definition.log_command)
    if definition.log is LogOrigin.JOURNAL and definition.unit is not None:
        host = host_of(launch)
        return JournalFollower(definition.unit, journalctl=host.journalctl, ssh=host.ssh)
    return None


def without_secrets(source: LogSource | None, secrets: Secrets) -> LogSource | None:
    """The same log, without the secrets that it repeats."""
    return source if source is None or not secrets else HidingLog(source, secrets)


class HidingLog:
    """A log whose readers see no secret. The end of a secret that has begun is waited for."""

    def __init__(self, source: LogSource, secrets: Secrets) -> None:
        self._source = source
        self._hiding = HidingStream(secrets)

    def read_new(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        return self._hiding.feed(self._source.read_new(limit_bytes))

    def behind_bytes(self) -> int:
        return self._source.behind_bytes()

    @property
    def trouble(self) -> str | None:
        return self._source.trouble

    def close(self) -> None:
        self._source.close()
