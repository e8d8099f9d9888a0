"""How a prefill and a decode instance reach each other: the two protocols, and the one in memory.

The one between processes is in `socket_link`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from runner.testbed.kv_pool import PagePool
from runner.testbed.page_messages import PageMessage


class DecodePeer(Protocol):
    """A decode instance as a prefill instance sees it: its pool, and a way to tell it things."""

    @property
    def pool(self) -> PagePool: ...

    def send(self, message: PageMessage) -> None: ...


class PrefillPeer(Protocol):
    """A prefill instance as a decode instance sees it."""

    @property
    def address(self) -> str: ...

    def send(self, message: PageMessage) -> None: ...


class LocalDecodePeer:
    """Both instances in one process: messages wait until `deliver`."""

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self._messages: deque[PageMessage] = deque()

    def send(self, message: PageMessage) -> None:
        self._messages.append(message)

    def deliver(self, receive: Callable[[PageMessage], None]) -> None:
        while self._messages:
            receive(self._messages.popleft())


class LocalPrefillPeer:
    """What decode tells prefill is heard at once."""

    address = "local"

    def __init__(self, receive: Callable[[PageMessage], None]) -> None:
        self._receive = receive

    def send(self, message: PageMessage) -> None:
        self._receive(message)
