"""A testbed that really listens, in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from runner.testbed.launch_options import LaunchOptions
from runner.testbed.running_server import RunningServer

_PATIENCE_S = 60.0


class LogCollector(logging.Handler):
    """Keeps all lines; a test can wait for one."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._changed = threading.Condition()

    def emit(self, record: logging.LogRecord) -> None:
        with self._changed:
            self.lines.append(record.getMessage())
            self._changed.notify_all()

    def wait_for(self, text: str) -> str:
        """The first line that contains `text`, when it is there."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: any(text in line for line in self.lines), _PATIENCE_S
            ), f"no line with {text!r}"
            return next(line for line in self.lines if text in line)


class LiveTestbed:
    """`client` talks to it; `log` hears it."""

    def __init__(self, client: httpx.Client, log: LogCollector) -> None:
        self.client = client
        self.log = log

    def metric(self, name: str, *labels: str) -> float:
        """Sum of the samples whose line has all `labels`, e.g. `cache_source="host"`."""
        return metric_sum(self.client.get("/metrics").text, name, *labels)


def metric_sum(page: str, name: str, *labels: str) -> float:
    """Sum of the samples of one of SGLang's families whose line has all `labels`."""
    return sum(
        float(line.rsplit(" ", 1)[1])
        for line in page.splitlines()
        if line.startswith(f"sglang:{name}{{") and all(label in line for label in labels)
    )


@contextmanager
def live_testbed(options: LaunchOptions) -> Iterator[LiveTestbed]:
    """Serve with `options` on a free port until the block ends."""
    log = LogCollector()
    logger = logging.Logger("live-testbed")
    logger.addHandler(log)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        ready = threading.Event()
        testbed = RunningServer(options, logger)
        thread = threading.Thread(
            target=lambda: asyncio.run(testbed.serve(listener, on_ready=ready.set))
        )
        thread.start()
        try:
            assert ready.wait(_PATIENCE_S)
            port = listener.getsockname()[1]
            base_url = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=base_url, timeout=_PATIENCE_S) as client:
                yield LiveTestbed(client, log)
        finally:
            testbed.stop()
            thread.join(_PATIENCE_S)
    assert testbed.crash is None
