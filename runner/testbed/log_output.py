"""Where the log goes, and the prefix of its lines: `[2026-08-22 09:15:02] message` on stderr."""

from __future__ import annotations

import logging
import sys

from uvicorn.logging import AccessFormatter

_TIME = "%Y-%m-%d %H:%M:%S"
_NAME = "runner.testbed"


def configure_log(*, access_log: bool) -> logging.Logger:
    """Local time and no level, as SGLang prints it; access lines end in uvicorn's own form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("[%(asctime)s] %(message)s", _TIME))
    logger = logging.getLogger(_NAME)
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    _configure_uvicorn("uvicorn.error", [handler], logging.WARNING)
    _configure_uvicorn("uvicorn.access", [_access_handler()] if access_log else [], logging.INFO)
    return logger


def _configure_uvicorn(name: str, handlers: list[logging.Handler], level: int) -> None:
    log = logging.getLogger(name)
    log.handlers, log.propagate = handlers, False
    log.setLevel(level)


def _access_handler() -> logging.Handler:
    """`[2026-08-22 09:15:02] INFO:     127.0.0.1:37664 - "GET /health HTTP/1.1" 200 OK`."""
    handler = logging.StreamHandler(sys.stderr)
    line = '%(levelprefix)s %(client_addr)s - "%(request_line)s" %(status_code)s'
    handler.setFormatter(AccessFormatter(f"[%(asctime)s] {line}", _TIME, use_colors=False))
    return handler
