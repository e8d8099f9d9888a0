"""Which transport carries the sessions: our own, or httpx's where a proxy stands between."""

import ssl

import httpx

from runner.sessions.stream_transport import KEEPALIVE_S, StreamTransport


def session_transport(
    *,
    keepalive_s: float = KEEPALIVE_S,
    tls: ssl.SSLContext | None = None,
    proxy: str | None = None,
) -> httpx.AsyncBaseTransport:
    """A transport without a limit of connections; the number of sessions is the limit.

    A proxy is used only where one is named: one of the environment would be part of what is
    measured without standing in any record. httpx slows with the number of open streams, so that a
    run through a proxy holds some hundred of them.
    """
    if proxy is None:
        return StreamTransport(keepalive_s=keepalive_s, tls=tls)
    return httpx.AsyncHTTPTransport(
        verify=True if tls is None else tls,
        trust_env=False,
        proxy=proxy,
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=None, keepalive_expiry=keepalive_s
        ),
    )
