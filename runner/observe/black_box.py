"""What is kept of a stack at the moment of a wedge, once: pages, log tails, requests, stacks, GPUs.

It takes what it can reach in a few seconds and says what it could not; it changes nothing.
"""

import asyncio
import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from db.vocabulary import RawKind
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.observe.bounded_command import CommandEnd, run_bounded
from runner.observe.wedge_spans import OpenRequest

PAGE_DEADLINE_S = 5.0
COMMAND_DEADLINE_S = 15.0
_AT_ONCE = 8
_MAX_PROCESSES = 64
_MAX_COMMAND_BYTES = 4 * 1024 * 1024
LOADS_PATH = "/v1/loads?include=all"


@dataclass(frozen=True, slots=True)
class BoxedService:
    """Where one service can be looked at. `find_process` tells its pid at the moment of the wedge,
    in a thread; None where it is not ours to look at.
    """

    name: str
    base_url: str
    metrics_url: str | None = None
    server_info_url: str | None = None
    log_tail: Callable[[], bytes] | None = None
    find_process: Callable[[], int | None] | None = None


@dataclass(frozen=True, slots=True)
class BoxTools:
    """Programs that tell more of a machine. `path` is where they are looked for, as in PATH.

    `deadline_s` is for each start of one. None is started any more after twice that time.
    """

    path: str | None = None
    deadline_s: float = COMMAND_DEADLINE_S

    def find(self, program: str) -> str | None:
        return shutil.which(program, path=self.path)

    async def run(self, argv: Sequence[str]) -> CommandEnd:
        return await run_bounded(argv, deadline_s=self.deadline_s, cap_bytes=_MAX_COMMAND_BYTES)


@dataclass(frozen=True, slots=True)
class BoxItem:
    """One thing in the box; `content` is empty where it could not be had, and `said` tells why."""

    kind: RawKind
    service: str
    content: bytes
    said: str

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": str(self.kind),
            "service": self.service,
            "size_bytes": len(self.content),
            "said": self.said,
        }


async def fill_black_box(
    services: Sequence[BoxedService],
    *,
    http: httpx.AsyncClient,
    open_requests: Iterable[OpenRequest],
    redact: Callable[[Any], Any],
    tools: BoxTools | None = None,
) -> list[BoxItem]:
    """All at once, within three times the tools' deadline. `redact` takes the secrets out."""
    chosen = tools or BoxTools()
    listed = [asdict(each) for each in open_requests]
    requests = json.dumps(listed, indent=1).encode()
    gathered = await asyncio.gather(
        *(_box_service(service, http, redact, chosen) for service in services), _gpu_state(chosen)
    )
    in_flight = BoxItem(RawKind.WEDGE_IN_FLIGHT, "client", requests, f"{len(listed)} requests")
    return [in_flight, *(item for items in gathered for item in items)]


async def _box_service(
    service: BoxedService,
    http: httpx.AsyncClient,
    redact: Callable[[Any], Any],
    tools: BoxTools,
) -> list[BoxItem]:
    metrics, info, loads, stacks = await asyncio.gather(
        _page(RawKind.WEDGE_METRICS, service.name, service.metrics_url, http),
        _page(RawKind.WEDGE_SERVER_INFO, service.name, service.server_info_url, http),
        _page(RawKind.WEDGE_LOADS, service.name, service.base_url + LOADS_PATH, http),
        _stacks(service, tools),
    )
    items = [metrics, _redacted(info, redact), loads, stacks]
    if service.log_tail is not None:
        tail = service.log_tail()
        items.append(BoxItem(RawKind.WEDGE_LOG_TAIL, service.name, tail, f"{len(tail)} bytes"))
    return [item for item in items if item is not None]


async def _page(
    kind: RawKind, service: str, url: str | None, http: httpx.AsyncClient
) -> BoxItem | None:
    if url is None:
        return None
    try:
        page = await fetch_page(http, url, deadline_s=PAGE_DEADLINE_S)
    except NO_PAGE as error:
        return BoxItem(kind, service, b"", said_by(error, deadline_s=PAGE_DEADLINE_S))
    if page.status != 200:
        return BoxItem(kind, service, b"", f"status {page.status}")
    return BoxItem(kind, service, page.content, "status 200" + (", cut" if page.is_cut else ""))


def _redacted(item: BoxItem | None, redact: Callable[[Any], Any]) -> BoxItem | None:
    """A report that is no JSON is not kept: its secrets could not be found."""
    if item is None or not item.content:
        return item
    try:
        report = redact(json.loads(item.content))
    except (ValueError, RecursionError):
        return BoxItem(item.kind, item.service, b"", "it was no JSON")
    content = json.dumps(report, indent=1, ensure_ascii=False).encode("utf-8", errors="replace")
    return BoxItem(item.kind, item.service, content, item.said)


async def _stacks(service: BoxedService, tools: BoxTools) -> BoxItem:
    """Where every thread of the service stands: by py-spy, and what the kernel says of it."""
    find = service.find_process
    process_id = await asyncio.to_thread(find) if find is not None else None
    if process_id is None:
        return BoxItem(RawKind.WEDGE_STACKS, service.name, b"", "no process that we may look at")
    pids = _process_tree(process_id)
    spy = tools.find("py-spy")
    gate = asyncio.Semaphore(_AT_ONCE)
    until_s = asyncio.get_running_loop().time() + 2 * tools.deadline_s
    dumps = await asyncio.gather(*(_dump(pid, spy, tools, gate, until_s) for pid in pids))
    content = b"\n".join(written for written, _ in dumps)
    said = f"{len(pids)} processes" if len(pids) > 1 else "1 process"
    troubles = dict.fromkeys(trouble for _, trouble in dumps if trouble is not None)
    if spy is None:
        said += "; py-spy is not installed"
    elif troubles:
        said += f"; {next(iter(troubles))}"
    return BoxItem(RawKind.WEDGE_STACKS, service.name, content, said)


async def _dump(
    pid: int, spy: str | None, tools: BoxTools, gate: asyncio.Semaphore, until_s: float
) -> tuple[bytes, str | None]:
    """One process, and why py-spy could not tell of it."""
    head = f"== process {pid}\n".encode() + _kernel_state(pid)
    if spy is None:
        return head, None
    async with gate:
        if asyncio.get_running_loop().time() >= until_s:
            return head, "no time was left to ask every process"
        end = await tools.run([spy, "dump", "--nonblocking", "--pid", str(pid)])
    return head + end.output, end.trouble


async def _gpu_state(tools: BoxTools) -> list[BoxItem]:
    command = tools.find("nvidia-smi")
    if command is None:
        return [BoxItem(RawKind.WEDGE_GPU, "machine", b"", "nvidia-smi is not installed")]
    end = await tools.run([command])
    said = end.trouble or "nvidia-smi" + (", cut" if end.is_cut else "")
    return [BoxItem(RawKind.WEDGE_GPU, "machine", end.output, said)]


def _process_tree(root: int) -> list[int]:
    """The process and its descendants, as Linux lists them."""
    found: list[int] = []
    waiting = [root]
    while waiting and len(found) < _MAX_PROCESSES:
        pid = waiting.pop(0)
        found.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError, ValueError):
                waiting += [int(child) for child in children.read_text("ascii").split()]
    return found


def _kernel_state(pid: int) -> bytes:
    """Name, state and kernel wait channel of each thread."""
    lines: list[str] = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        stat = _read(task / "stat")
        name, state = stat.partition("(")[2].rpartition(")")[0], stat.rpartition(")")[2].strip()[:1]
        lines.append(f"thread {task.name} {name} {state} {_read(task / 'wchan').strip()}")
    return ("\n".join(lines) + "\n").encode()


def _read(path: Path) -> str:
    """Empty where it cannot be read: threads end while one looks at them."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
