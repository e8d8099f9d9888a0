"""How uvicorn serves here, for a server and for a router alike."""

from __future__ import annotations

import uvicorn
from starlette.types import ASGIApp

BACKLOG = 1024
_KEEP_ALIVE_S = 75
_GRACE_S = 2


def http_config(app: ASGIApp, *, access_log: bool) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=access_log,
        lifespan="off",
        backlog=BACKLOG,
        timeout_graceful_shutdown=_GRACE_S,
        # On a starved machine the usual 5 s end while a client's next request lies unread, and the
        # connection is reset under it.
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
