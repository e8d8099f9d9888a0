"""Where the log of a service of a stack is read; reads nothing itself."""

from pathlib import Path

from runner.campaign.stack_shape import LogSource as LogOrigin
from runner.observe.journal_follower import JournalFollower
from runner.observe.log_follower import CommandFollower, FileFollower, LogSource
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
