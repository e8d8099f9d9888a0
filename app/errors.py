"""The errors of the dashboard, each with the sentence a person reads.

* AppError
  + NoStoreError           nothing was recorded yet: start a worker, the page fills by itself
    + StoreGoneError       there was a store, and it is not there any more
  + UnreadableStoreError   the store is of another version or cannot be read: what to do is said
  + UnknownIdError         an address names something that the store does not have
  + NoConfigsError         the folder of campaign files cannot be found or read
"""


class AppError(Exception):
    """Root of all; its text is one sentence for the person at the page."""


class NoStoreError(AppError):
    """No store exists at the address yet."""


class StoreGoneError(NoStoreError):
    """A store that this dashboard has read is not there any more."""


class UnreadableStoreError(AppError):
    """There is a store, and this dashboard cannot read it."""


class UnknownIdError(AppError):
    """An address names a campaign, run or session that is not there."""


class NoConfigsError(AppError):
    """Campaign files cannot be listed or read."""
