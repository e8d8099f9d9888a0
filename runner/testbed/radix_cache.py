"""The prefix cache: a radix tree whose edges are full pages of 64 tokens, on device, host or both.

It decides which page numbers hold which prefix, who may be evicted, and what has to be copied; it
touches no bytes. Invariants, with HiCache on and off: a device page has one owner (the free list,
one node, or one lease); a node with a home has a parent with a home of the same kind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from runner.testbed.host_pool import PageCopy
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.page_numbers import FreePages

Page = tuple[int, ...]


@dataclass(eq=False, slots=True)
class Node:
    """One full page of a prefix; `locks` counts the leases that need it where it is."""

    key: Page
    parent: Node | None
    children: dict[Page, Node] = field(default_factory=dict)
    device: int | None = None
    host: int | None = None
    locks: int = 0

    def is_leaf_on_device(self) -> bool:
        return all(child.device is None for child in self.children.values())

    def is_leaf_on_host(self) -> bool:
        return all(child.host is None for child in self.children.values())


@dataclass(slots=True)
class Lease:
    """What one request holds: locked nodes of its prefix, then pages of its own."""

    nodes: list[Node]
    own_pages: list[int]
    loads: list[PageCopy]

    @property
    def page_table(self) -> list[int]:
        """Device page of every 64 tokens of the request."""
        cached = [node.device for node in self.nodes if node.device is not None]
        return cached + self.own_pages

    @property
    def cached_tokens(self) -> int:
        return len(self.nodes) * PAGE_TOKENS

    @property
    def host_tokens(self) -> int:
        """Of the cached tokens, those that have to come back from the host first."""
        return len(self.loads) * PAGE_TOKENS


class RadixCache:
    """`acquire` before a prefill, `insert` after it, `release` when the pages were transferred."""

    def __init__(self, device: FreePages, host: FreePages | None) -> None:
        self._device = device
        self._host = host
        self._root = Node(key=(), parent=None)
        self._on_device: OrderedDict[Node, None] = OrderedDict()  # least recently used first
        self._on_host: OrderedDict[Node, None] = OrderedDict()
        self.evicted_tokens = 0
        self.dropped_tokens = 0

    @property
    def device_pages_evictable(self) -> int:
        return sum(node.locks == 0 for node in self._on_device)

    @property
    def host_pages_used(self) -> int:
        return len(self._on_host)

    def acquire(self, tokens: Sequence[int]) -> Lease | None:
        """Lock the cached prefix and take pages for the rest; None if too few can be had.

        At least one token is left to compute. Nodes that live only on the host get a device page
        here; their bytes are in place once the caller has carried out `loads`.
        """
        nodes = self._match(tokens[: len(tokens) - 1])
        self._lock(nodes)
        to_load = [node for node in nodes if node.device is None]
        n_pages = -(-len(tokens) // PAGE_TOKENS)
        pages = self._take_device(len(to_load) + n_pages - len(nodes))
        if pages is None:
            self._unlock(nodes)
            return None
        loads = []
        for node, page in zip(to_load, pages, strict=False):
            assert node.host is not None
            self._set_device(node, page)
            loads.append(PageCopy(device=page, host=node.host))
        return Lease(nodes, pages[len(to_load) :], loads)

    def insert(self, tokens: Sequence[int], lease: Lease) -> list[PageCopy]:
        """Give the computed full pages to the tree; returns what to back up (write-through)."""
        full_pages = list(_pages_of(tokens))
        for key in full_pages[len(lease.nodes) :]:
            parent = lease.nodes[-1] if lease.nodes else self._root
            page = lease.own_pages.pop(0)
            node = parent.children.get(key)
            if node is None:
                node = parent.children[key] = Node(key, None if parent is self._root else parent)
            if node.device is None:
                self._set_device(node, page)
            else:  # another request computed the same page meanwhile
                self._device.give_back(page)
            node.locks += 1
            lease.nodes.append(node)
        copies = self._back_up(lease.nodes)
        self._touch(lease.nodes)
        return copies

    def release(self, lease: Lease) -> None:
        """End a lease: its nodes may be evicted again, its own pages are free."""
        self._unlock(lease.nodes)
        for page in lease.own_pages:
            self._device.give_back(page)
        lease.nodes, lease.own_pages, lease.loads = [], [], []

    def flush(self) -> None:
        """Forget everything; only allowed when no lease is out. The bytes stay where they are."""
        for node in [*self._on_device]:
            self._drop_device(node)
        for node in [*self._on_host]:
            self._drop_host(node)
        self._root.children.clear()

    def _match(self, tokens: Sequence[int]) -> list[Node]:
        """The longest chain of cached pages that `tokens` begins with."""
        nodes: list[Node] = []
        children = self._root.children
        for key in _pages_of(tokens):
            node = children.get(key)
            if node is None:
                break
            nodes.append(node)
            children = node.children
        return nodes

    def _lock(self, nodes: list[Node]) -> None:
        for node in nodes:
            node.locks += 1
        self._touch(nodes)

    def _touch(self, nodes: list[Node]) -> None:
        """Mark as just used; of one chain the deepest page is to be evicted first."""
        for node in reversed(nodes):
            for home in (self._on_device, self._on_host):
                if node in home:
                    home.move_to_end(node)

    def _unlock(self, nodes: list[Node]) -> None:
        for node in nodes:
            node.locks -= 1

    def _take_device(self, count: int) -> list[int] | None:
        while len(self._device) < count:
            leaf = _least_recent(self._on_device, Node.is_leaf_on_device)
            if leaf is None:
                return None
            self.evicted_tokens += PAGE_TOKENS
            self._drop_device(leaf)
        return [self._device.take() for _ in range(count)]

    def _take_host(self) -> int | None:
        if self._host is None:
            return None
        if not len(self._host):
            leaf = _least_recent(self._on_host, Node.is_leaf_on_host)
            if leaf is None:
                return None
            self._drop_host(leaf)
        return self._host.take()

    def _back_up(self, chain: list[Node]) -> list[PageCopy]:
        copies = []
        for node in chain:
            if node.host is not None:
                continue
            page = self._take_host()
            if page is None:  # nothing deeper may be backed up without its parent
                self.dropped_tokens += PAGE_TOKENS if self._host is not None else 0
                break
            assert node.device is not None
            node.host = page
            self._on_host[node] = None
            copies.append(PageCopy(device=node.device, host=page))
        return copies

    def _set_device(self, node: Node, page: int) -> None:
        node.device = page
        self._on_device[node] = None

    def _drop_device(self, node: Node) -> None:
        assert node.device is not None
        self._device.give_back(node.device)
        node.device = None
        del self._on_device[node]
        self._forget_if_homeless(node)

    def _drop_host(self, node: Node) -> None:
        assert node.host is not None and self._host is not None
        self._host.give_back(node.host)
        node.host = None
        del self._on_host[node]
        self._forget_if_homeless(node)

    def _forget_if_homeless(self, node: Node) -> None:
        if node.device is None and node.host is None:
            siblings = (node.parent or self._root).children
            del siblings[node.key]


def _least_recent(nodes: Iterable[Node], is_leaf: Callable[[Node], bool]) -> Node | None:
    """The first that nobody needs and nothing hangs on."""
    return next((node for node in nodes if node.locks == 0 and is_leaf(node)), None)


def _pages_of(tokens: Sequence[int]) -> Iterator[Page]:
    """The full pages of `tokens`, in order."""
    for start in range(0, len(tokens) - PAGE_TOKENS + 1, PAGE_TOKENS):
        yield tuple(tokens[start : start + PAGE_TOKENS])
