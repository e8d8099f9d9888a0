"""Checksums of index-key pages wherever they lie: where did the bytes first differ?

A page's sum is noted when it has been computed. It is compared on the host after the copy there, on
the device each time a layer is about to read it, and on the decode side after the transfer and when
the answer ends. A page counts where it first differs, not again further on. Nothing that serves a
request reads any of this, and no verdict does: it is there to check those who look from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from runner.testbed.engine_metrics import EngineMetrics
from runner.testbed.host_pool import HostPool, PageCopy
from runner.testbed.kv_pool import PagePool

_WORD_BYTES = 8
_ODD_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)


def page_sums(pages: Tensor) -> Tensor:
    """(..., page_bytes) uint8 -> (...) int64: each word times a factor of its place, summed."""
    if not pages.shape[-1]:
        return torch.zeros(pages.shape[:-1], dtype=torch.int64, device=pages.device)
    words = pages.view(torch.int64)
    places = torch.arange(words.shape[-1], device=words.device) * 2 + 1
    return (words * (places * _ODD_FACTOR)).sum(-1)


class PrefillAudit:
    """What each device page and each host page should hold, and which were seen not to."""

    def __init__(self, pool: PagePool, host: HostPool | None, metrics: EngineMetrics) -> None:
        self._pool = pool
        self._host = host
        self._metrics = metrics
        n_layers, n_pages, _ = pool.index.shape
        device = pool.index.device
        self._due = torch.zeros(n_layers, n_pages, dtype=torch.int64, device=device)
        # Pages that came from a host page which was wrong already.
        self._excused = torch.zeros(n_pages, dtype=torch.bool, device=device)
        n_host = host.n_pages if host is not None else 0
        self._host_due = torch.zeros(n_layers, n_host, dtype=torch.int64, device=device)
        self._host_wrong = torch.zeros(n_host, dtype=torch.bool, device=device)
        self._differing = torch.zeros((), dtype=torch.int64, device=device)

    def computed(self, pages: Sequence[int]) -> None:
        """These pages have just been filled."""
        if pages:
            where = self._numbers(pages)
            self._due[:, where] = page_sums(self._pool.index[:, where])
            self._excused[where] = False

    def backed_up(self, copies: Sequence[PageCopy]) -> None:
        """These pages have been copied to the host: are they there, whole?"""
        assert self._host is not None
        device, host = _columns(copies)
        due = self._due[:, self._numbers(device)]
        there = page_sums(self._host.index[:, host]).to(due.device)
        wrong = (there != due).any(0)
        targets = self._numbers(host)
        self._host_due[:, targets] = due
        self._host_wrong[targets] = wrong
        self._metrics.audited("host", pages=len(host), differing=int(wrong.sum()))

    def loading(self, copies: Sequence[PageCopy]) -> None:
        """These pages are on their way back."""
        device, host = _columns(copies)
        targets, sources = self._numbers(device), self._numbers(host)
        self._due[:, targets] = self._host_due[:, sources]
        self._excused[targets] = self._host_wrong[sources]

    def read(self, layer: int, pages: Sequence[int]) -> None:
        """A layer is about to read these pages, as they are now."""
        if pages:
            where = self._numbers(pages)
            there = page_sums(self._pool.index[layer].index_select(0, where))
            self._differing += ((there != self._due[layer, where]) & ~self._excused[where]).sum()
            self._metrics.audited("device", pages=len(pages), differing=0)

    def report(self) -> None:
        """Bring the metrics up to date; on a GPU this waits for it."""
        differing = int(self._differing)
        if differing:
            self._differing.zero_()
            self._metrics.audited("device", pages=0, differing=differing)

    def _numbers(self, pages: Sequence[int]) -> Tensor:
        return torch.tensor(list(pages), device=self._due.device)


class DecodeAudit:
    """Compares a slot's pages with the sums that their sender gave for them."""

    def __init__(self, pool: PagePool, metrics: EngineMetrics) -> None:
        self._pool = pool
        self._metrics = metrics

    def arrived(self, pages: Sequence[int], sums: Sequence[int]) -> tuple[int, ...]:
        """Of the pages that have just come, those (by their place) that are as they were sent."""
        if not sums:
            return ()
        same = self._same(range(len(pages)), pages, sums)
        self._metrics.audited("decode", pages=len(pages), differing=len(pages) - len(same))
        return same

    def ended(self, pages: Sequence[int], sums: Sequence[int], places: Sequence[int]) -> None:
        """The answer is over: are these places of the prompt still as they came?"""
        if places:
            same = self._same(places, pages, sums)
            self._metrics.audited("decode", pages=0, differing=len(places) - len(same))

    def _same(
        self, places: Sequence[int], pages: Sequence[int], sums: Sequence[int]
    ) -> tuple[int, ...]:
        there = page_sums(self._pool.index[:, [pages[place] for place in places]]).cpu()
        due = torch.tensor(sums).view(there.shape[0], -1)[:, list(places)]
        same = (there == due).all(0).tolist()
        return tuple(place for place, is_same in zip(places, same, strict=True) if is_same)


def _columns(copies: Sequence[PageCopy]) -> tuple[list[int], list[int]]:
    return [copy.device for copy in copies], [copy.host for copy in copies]
