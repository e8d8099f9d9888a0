"""The lines the testbed writes to stderr, in the words of SGLang's.

It knows wording only. A tool that reads a real stack's log must be able to read this one.
"""

from __future__ import annotations

import logging
import sys

from uvicorn.logging import AccessFormatter

_TIME = "%Y-%m-%d %H:%M:%S"
LOGGER_NAME = "runner.testbed"
WAITING_FOR_INPUT = "KVPoll.WaitingForInput"
ABORTED = "Aborted by AbortReq."


def configure_log(*, access_log: bool) -> logging.Logger:
    """`[2026-08-22 09:15:02] message` on stderr: local time, no level, as SGLang prints it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("[%(asctime)s] %(message)s", _TIME))
    logger = logging.getLogger(LOGGER_NAME)
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


def prefill_batch(
    *,
    new_sequences: int,
    new_tokens: int,
    cached_tokens: int,
    token_usage: float,
    running: int,
    queued: int,
    bootstrap: int,
    inflight: int,
    tokens_per_s: float,
) -> str:
    return (
        f"Prefill batch, #new-seq: {new_sequences}, #new-token: {new_tokens}, "
        f"#cached-token: {cached_tokens}, token usage: {token_usage:.2f}, "
        f"#running-req: {running}, #queue-req: {queued}, #bootstrap-req: {bootstrap}, "
        f"#inflight-req: {inflight}, cuda graph: False, "
        f"input throughput (token/s): {tokens_per_s:.2f}"
    )


def decode_batch(
    *,
    running: int,
    tokens: int,
    token_usage: float,
    prealloc: int,
    transfer: int,
    queued: int,
    tokens_per_s: float,
) -> str:
    return (
        f"Decode batch, #running-req: {running}, #token: {tokens}, "
        f"token usage: {token_usage:.2f}, pre-allocated usage: 0.00, #prealloc-req: {prealloc}, "
        f"#transfer-req: {transfer}, #retracted-req: 0, cuda graph: False, "
        f"gen throughput (token/s): {tokens_per_s:.2f}, #queue-req: {queued}"
    )


def kv_transfer_error(room: int, reason: str) -> str:
    return f"KVTransferError(bootstrap_room={room}): {reason}"


def waiting_timeout(room: int, timeout_s: float) -> str:
    return f"Request {room} timed out after {timeout_s}s in {WAITING_FOR_INPUT}"


def waiting_timeout_hint() -> str:
    """Written once per process."""
    return (
        "Some requests fail to receive KV Cache transfer done signal after bootstrapping. "
        "If a greater mean TTFT is acceptable, you can raise --disaggregation-waiting-timeout "
        "(in SGLang: 'export SGLANG_DISAGGREGATION_WAITING_TIMEOUT=600')."
    )


def decode_transfer_failed(rid: str, room: int, reason: str) -> str:
    return (
        f"Decode transfer failed for request rank=0 decode_req.req.rid='{rid}' "
        f"decode_req.req.bootstrap_room={room} with exception {kv_transfer_error(room, reason)}"
    )


def prefill_transfer_failed(rid: str, room: int, reason: str) -> str:
    return (
        f"Prefill transfer failed for request rank=0 req.rid='{rid}' "
        f"req.bootstrap_room={room} with exception {kv_transfer_error(room, reason)}"
    )


def prefill_bootstrap_failed(rid: str, room: int, reason: str) -> str:
    return (
        f"Prefill bootstrap failed for request rank=0 req.rid='{rid}' "
        f"req.bootstrap_room={room} with exception {kv_transfer_error(room, reason)}"
    )


def client_disconnected(rid: str, *, stream: bool) -> str:
    kind = 3 if stream else 1
    return (
        f"Request is disconnected from the client side (type {kind}). Abort request obj.rid='{rid}'"
    )


def cache_flushed() -> str:
    return "Cache flushed successfully!"


def cache_not_flushed(*, queued: int, running: int) -> str:
    return (
        "Cache not flushed because there are pending requests. "
        f"#queue-req: {queued}, #running-req: {running}"
    )


def host_pool_allocated(*, tokens: int, gigabytes: float) -> str:
    return f"Allocating {gigabytes:.2f} GB hierarchical KV host pool: {tokens} tokens."


def index_host_pool_allocated(*, gigabytes: float) -> str:
    return f"Allocating {gigabytes:.2f} GB host memory for DSA indexer (layout=page_first)."


def ready() -> str:
    return "The server is fired up and ready to roll!"


def undefined_function(name: str) -> str:
    return f"Model attempted to call undefined function: {name}"
