"""The errors of the runner, each named after what the reader can do about it.

* RunnerError
  + ConfigError            a file says something that cannot be meant: correct the file
  + UsageError             a command was called with what does not fit: call it again, corrected
  + StackError
    - StackStartError      a service did not come up: read its log
    - StackControlError    a command on a service failed: read what it printed
  + RunInvalidError        the evidence of a run does not count: read why, mend it, run it again
  + RecordedCaseError      a line of a case file cannot be read: correct the line
  + SupervisedProcessError a process of `decisive up` does not stay up: read what it printed
  + ClientExhaustedError   this machine ran out of sockets or ports: raise its limits
  + ClientProcessLostError a process that played sessions is gone: read how it ended
"""


class RunnerError(Exception):
    """Root of all; its text is one sentence for the user."""


class ConfigError(RunnerError):
    """A configuration file cannot be used as it stands."""


class UsageError(RunnerError):
    """A command was asked for something that does not exist or does not fit."""


class StackError(RunnerError):
    """The serving stack could not be brought where the arm needs it."""


class StackStartError(StackError):
    """A service did not start or did not become ready."""


class StackControlError(StackError):
    """A command that was to find out about a service, or to change it, did not end well."""


class RunInvalidError(RunnerError):
    """The stack is not what the arm says, so whatever it does proves nothing."""


class RecordedCaseError(RunnerError):
    """A recorded case is not in the documented format."""


class ClientExhaustedError(RunnerError):
    """The load client itself ran out of a resource; the server is not to blame."""


class ClientProcessLostError(RunnerError):
    """One of the processes that play sessions ended, or fell silent; the server is not to blame."""


class SupervisedProcessError(RunnerError):
    """The dashboard or the worker ended and cannot be kept running."""
