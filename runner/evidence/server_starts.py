"""Which launches were one start of servers that others run, by what these said; reads no store.

Going on after a pause records another launch, and restarts nothing. Where a server shows that it is
the same process, its launches are one cluster; where nothing shows it, they stay apart and that is
told.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class ServiceSigns:
    """What the metrics of one service said during one launch.

    `process_starts`: when its processes had begun, Unix seconds; several may share an address.
    `first_requests`, `last_requests`: its own count of requests at the first and last scrape.
    """

    process_starts: frozenset[float] = frozenset()
    first_requests: float | None = None
    last_requests: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSigns:
    """`servers` tells which ones were asked: what others say proves nothing of these.

    `levels` are those proved in this launch that a server takes only when it starts.
    """

    launch_id: int
    services: Mapping[str, ServiceSigns]
    servers: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerStart:
    """`launch_id`: the first launch of this start. `perhaps_since`: the first launch since which
    nothing shows a restart, although each was counted as one.
    """

    launch_id: int
    perhaps_since: int


def starts_of(launches: Iterable[LaunchSigns]) -> dict[int, ServerStart]:
    """Launch to the start that it belongs to; `launches` in the order of time."""
    found: dict[int, ServerStart] = {}
    memories: dict[str, _Memory] = {}
    for launch in launches:
        memory = memories.setdefault(launch.servers, _Memory())
        start = found[launch.launch_id] = memory.start_of(launch)
        memory.keep(launch, start)
    return found


class _Sign(NamedTuple):
    """Of one service: the start that it is still in, or None where it was started anew."""

    still: ServerStart | None


@dataclass(slots=True)
class _Memory:
    """What the earlier launches of the same servers have said."""

    latest: ServerStart | None = None
    processes: dict[str, dict[float, ServerStart]] = field(default_factory=dict)
    counted: dict[str, tuple[float, ServerStart]] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)

    def start_of(self, launch: LaunchSigns) -> ServerStart:
        another = ServerStart(launch.launch_id, launch.launch_id)
        if self.latest is None:
            return another
        signs = tuple(self._signs(launch))
        starts = [sign.still for sign in signs if sign.still is not None]
        # As with servers of ours: where one of several was started anew, it is another launch.
        if len(starts) < len(signs):
            return another
        if starts:
            return max(starts, key=lambda start: start.launch_id)
        return ServerStart(launch.launch_id, self.latest.perhaps_since)

    def keep(self, launch: LaunchSigns, start: ServerStart) -> None:
        self.latest = start
        self.levels |= launch.levels
        if start.perhaps_since == launch.launch_id:
            self.counted.clear()  # of processes that are gone
        for name, signs in launch.services.items():
            self.processes.setdefault(name, {}).update(dict.fromkeys(signs.process_starts, start))
            if signs.last_requests is not None:
                self.counted[name] = (signs.last_requests, start)

    def _signs(self, launch: LaunchSigns) -> Iterator[_Sign]:
        is_switched = any(self.levels.get(x, level) != level for x, level in launch.levels.items())
        of_processes = {
            name: sign
            for name, signs in launch.services.items()
            if (sign := self._of_processes(name, signs)) is not None
        }
        yield from of_processes.values()
        if is_switched and not of_processes:
            yield _Sign(None)
            return
        for name, signs in launch.services.items():
            sign = None if name in of_processes else self._of_requests(name, signs)
            if sign is not None:
                yield sign

    def _of_processes(self, name: str, signs: ServiceSigns) -> _Sign | None:
        known = self.processes.get(name)
        if not known or not signs.process_starts:
            return None
        return _Sign(next((known[x] for x in sorted(signs.process_starts) if x in known), None))

    def _of_requests(self, name: str, signs: ServiceSigns) -> _Sign | None:
        """A count only rises while a process lives. One of zero says nothing."""
        before, start = self.counted.get(name, (0.0, None))
        if not before or signs.first_requests is None:
            return None
        return _Sign(start if signs.first_requests >= before else None)
