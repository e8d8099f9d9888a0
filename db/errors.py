"""The errors of the store, each named after what the reader can do about it.

* StoreError
  + StoreUrlError            the address is no store: correct it
  + StoreMissingError        nothing is stored there yet: run something first
  + StoreTooNewError         a newer program wrote it: upgrade this one
  + StoreTooOldError         a reader met an older schema: let a writer open it once
  + StoreUnreadableError     not one of our stores, or damaged: choose another file
  + StoreAccessError         folder, permission, disk or server: repair what the text names
  + StoreLockedError         another writer held it too long: wait and try again
  + StoreFullError           the disk is full: make room
  + StoreReadOnlyError       this opening of the store may not write: open it for writing
  + RowMissingError          no such campaign, run, request ...: check the id
  + IllegalTransitionError   a run cannot go from that state to this one
  + RunBusyError             another worker is on that run: wait or stop it
  + FilterError              the filter is not well written: correct it where the text says
  + RecordError
    - DuplicateSessionError  that session of the run is stored already
    - DuplicateImportError   that run of another tool was imported already
    - RunClosedError         the run is done; its evidence does not change any more
    - RecorderClosedError    the recorder was closed: nothing more can be written through it
    - RecorderFailedError    rows that nobody waited for were lost: the record has a gap
    - RecorderStuckError     the store takes nothing and says nothing: look at its disk or server
  + LeaseError
    - LeaseLostError         another worker took over: stop working on it
    - StackLeasedError       another holder drives this stack: wait for it or stop it
"""


class StoreError(Exception):
    """Root of all; its text is one sentence for the user."""


class StoreUrlError(StoreError):
    """The text is not the address of a store."""


class StoreMissingError(StoreError):
    """There is no store at the address, or an empty file."""


class StoreTooNewError(StoreError):
    """The schema is newer than this program."""


class StoreTooOldError(StoreError):
    """The schema is older than this program, and a reader migrates nothing."""


class StoreUnreadableError(StoreError):
    """The file is no SQLite database, another program's, or damaged."""


class StoreAccessError(StoreError):
    """The place of the store cannot be used."""


class StoreLockedError(StoreError):
    """Another process held the write lock for longer than a writer waits."""


class StoreFullError(StoreError):
    """There is no room left for what was to be written."""


class StoreReadOnlyError(StoreError):
    """A write was asked of a store that was opened for reading."""


class RowMissingError(StoreError):
    """The row that was asked for does not exist."""


class IllegalTransitionError(StoreError):
    """A run was sent into a state that does not follow from where it stands."""


class RunBusyError(StoreError):
    """A run that was to be attempted again is still being driven."""


class FilterError(StoreError):
    """The text is no filter; `place` counts the characters before the fault."""

    def __init__(self, sentence: str, place: int) -> None:
        super().__init__(sentence)
        self.place = place


class RecordError(StoreError):
    """Something could not be recorded."""


class DuplicateSessionError(RecordError):
    """The run already has a session of that index."""


class DuplicateImportError(RecordError):
    """The campaign holds the imported run already."""


class RunClosedError(RecordError):
    """The run is done and takes no more sessions."""


class RecorderClosedError(RecordError):
    """The recorder was closed before."""


class RecorderFailedError(RecordError):
    """Rows handed over without waiting could not be written."""


class RecorderStuckError(RecordError):
    """What was handed over has not been stored in the time that it may take."""


class LeaseError(StoreError):
    """A lease is not held by whom it has to be."""


class LeaseLostError(LeaseError):
    """The lease expired and somebody else took over."""


class StackLeasedError(LeaseError):
    """Another live holder has the stack."""
