"""The lines the testbed writes to stderr, in the words of SGLang's.

It knows wording only. A tool that reads a real stack's log must be able to read this one.
"""

from __future__ import annotations

WAITING_FOR_INPUT = "KVPoll.WaitingForInput"
BOOTSTRAPPING = "KVPoll.Bootstrapping"
ABORTED = "Aborted by AbortReq."


def prefill_batch(
    *,
    new_sequences: int,
    new_tokens: int,
    cached_tokens: int,
    token_usage: float,
    running: int,
    queued: int,
    pending_tokens: int,
    bootstrap: int,
    inflight: int,
    tokens_per_s: float,
) -> str:
    return (
        f"Prefill batch, #new-seq: {new_sequences}, #new-token: {new_tokens}, "
        f"#cached-token: {cached_tokens}, token usage: {token_usage:.2f}, "
        f"#running-req: {running}, #queue-req: {queued}, #pending-token: {pending_tokens}, "
        f"#bootstrap-req: {bootstrap}, #inflight-req: {inflight}, #optimistic-req: 0, "
        f"cuda graph: False, input throughput (token/s): {tokens_per_s:.2f}"
    )


def decode_batch(
    *,
    running: int,
    tokens: int,
    token_usage: float,
    pending_usage: float,
    prealloc: int,
    transfer: int,
    queued: int,
    tokens_per_s: float,
) -> str:
    return (
        f"Decode batch, #running-req: {running}, #token: {tokens}, "
        f"token usage: {token_usage:.2f}, pre-allocated usage: {pending_usage:.2f}, "
        f"#prealloc-req: {prealloc}, #transfer-req: {transfer}, #retracted-req: 0, "
        f"cuda graph: False, gen throughput (token/s): {tokens_per_s:.2f}, #queue-req: {queued}"
    )


def kv_transfer_error(room: int, reason: str) -> str:
    return f"KVTransferError(bootstrap_room={room}): {reason}"


def waiting_timeout(room: int, timeout_s: float) -> str:
    return f"Request {room} timed out after {timeout_s}s in {WAITING_FOR_INPUT}"


def bootstrap_timeout(room: int, timeout_s: float) -> str:
    return f"Request {room} timed out after {timeout_s}s in {BOOTSTRAPPING}"


def waiting_timeout_hint() -> str:
    """Written once per process."""
    return (
        "Some requests fail to receive KV Cache transfer done signal after bootstrapping. "
        "If a greater mean TTFT is acceptable, you can raise --disaggregation-waiting-timeout "
        "(in SGLang: 'export SGLANG_DISAGGREGATION_WAITING_TIMEOUT=600')."
    )


def bootstrap_timeout_hint() -> str:
    """Written once per process."""
    return (
        "Some requests timed out when bootstrapping, which means prefill instances fail to "
        "receive the KV indices from the decode instance of this request."
    )


def decode_transfer_failed(rid: str, room: int, reason: str) -> str:
    return (
        f"Decode transfer failed for request rank=0 decode_req.req.rid='{rid}' "
        f"decode_req.req.bootstrap_room={room} with exception {kv_transfer_error(room, reason)}"
    )


def decode_handshake_failed(rid: str, room: int, reason: str) -> str:
    return (
        f"Decode handshake failed for request rank=0 decode_req.req.rid='{rid}' "
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


def lost_prefill(address: str, affected: int) -> str:
    return (
        f"Lost connection with prefill instance (bootstrap_addr: {address}), "
        f"{affected} requests affected"
    )


def index_pages_differ(n_prefill: int, n_decode: int) -> str:
    """The state list that decode gave is shorter: what has no place there is not sent."""
    return f"len(prefill_state_indices) = {n_prefill}, len(dst_state_indices) = {n_decode}"


def release_without_drain(room: int, timeout_s: float) -> str:
    return (
        f"Deferred KV release for room {room} timed out after {timeout_s}s without a full drain "
        "ack from prefill; releasing anyway."
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


def tree_cache_initialized(*, hicache: bool) -> str:
    return (
        f"Tree cache initialized: source=default impl=UnifiedRadixCache hicache_attached={hicache}"
    )


def host_pool_allocated(*, tokens: int, gigabytes: float) -> str:
    return f"Allocating {gigabytes:.2f} GB hierarchical KV host pool: {tokens} tokens."


def index_host_pool_allocated(*, gigabytes: float) -> str:
    return f"Allocating {gigabytes:.2f} GB host memory for DSA indexer (layout=page_first)."


def ready() -> str:
    return "The server is fired up and ready to roll!"


def scheduler_exception(trace: str) -> str:
    return f"Scheduler hit an exception: {trace}"


def watchdog_timeout(timeout_s: float, *, soft: bool) -> str:
    return f"Scheduler watchdog timeout (self.watchdog_timeout={timeout_s:g}, self.soft={soft})"


def sigquit_received() -> str:
    return "SIGQUIT received. signum=3, frame=None. It usually means one child failed."


def health_check_failed(*, timeout_s: float, asked: str, last_heartbeat: str) -> str:
    return (
        "Health check failed. Server couldn't get a response from detokenizer for last "
        f"{timeout_s:g} seconds. tic start time: {asked}. last_heartbeat time: {last_heartbeat}"
    )


def empty_abort() -> str:
    return "Empty rid, ignore abort request."


def subprocess_crashed(name: str, pid: int, status: int) -> str:
    return (
        f"Subprocess {name} (pid={pid}) crashed with exit code {status}. "
        "Triggering SIGQUIT for cleanup..."
    )


def undefined_function(name: str) -> str:
    return f"Model attempted to call undefined function: {name}"
