"""A request that has no end yet, as whoever watches the server sees it."""

from typing import NamedTuple


class OpenRequest(NamedTuple):
    """Seconds since it was sent, and since its last token, or since it was sent."""

    request_id: str
    waiting_s: float
    quiet_s: float
