"""The three processes of a split testbed, started and ended for a test."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx

from tests.runner.testbed.live_testbed import metric_sum

_PATIENCE_S = 120.0


class SplitTestbed:
    """`client` talks to the router, `prefill` and `decode` to the servers behind it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        self.client = httpx.Client(base_url=url, timeout=_PATIENCE_S)
        info = self.client.get("/server_info").json()
        self.prefill, self.decode = (
            httpx.Client(base_url=f"http://127.0.0.1:{info[role][0]['port']}", timeout=_PATIENCE_S)
            for role in ("prefill", "decode")
        )

    def metric(self, side: str, name: str, *labels: str) -> float:
        page = (self.prefill if side == "prefill" else self.decode).get("/metrics").text
        return metric_sum(page, name, *labels)

    def wait_for(self, text: str) -> str:
        """The first line of the log that contains `text`, when it is there."""

        def found() -> list[str]:
            return [line for line in self.lines if text in line]

        with self._changed:
            assert self._changed.wait_for(found, _PATIENCE_S), f"no line with {text!r}"
            return found()[0]

    def end(self) -> int:
        """Ask it to end; returns the exit status."""
        self.process.terminate()
        status = self.process.wait(_PATIENCE_S)
        for client in (self.client, self.prefill, self.decode):
            client.close()
        self._reader.join(_PATIENCE_S)
        return status

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        # The test may close the pipe while the last line is being read.
        with contextlib.suppress(ValueError):
            for line in self.process.stderr:
                with self._changed:
                    self.lines.append(line.rstrip("\n"))
                    self._changed.notify_all()


@contextmanager
def split_testbed(*switches: str) -> Iterator[SplitTestbed]:
    """Three processes with these switches until the block ends."""
    command: Sequence[str] = (
        *(sys.executable, "-m", "runner.testbed", "serve", "--split", "--port", "0"),
        *switches,
    )
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("testbed serves tiny-dsml on http://127.0.0.1:"), line
            testbed = SplitTestbed(process, line.rsplit(" ", 1)[1].strip())
            yield testbed
        finally:
            if process.poll() is None:
                process.terminate()
    testbed.end()
