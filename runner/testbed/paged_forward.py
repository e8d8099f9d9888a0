"""The forward pass over paged caches: prefill of one request, one decode step of many.

Each token attends to its last `window` tokens and to the `topk` others that the indexer scores
highest; scores are computed from the index-key bytes in the pool, so wrong bytes select wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.kv_pool import PagePool
from runner.testbed.model import NO_TOKEN, FusedModel, Projection

_NEVER = -1e30


class DecodeRow(NamedTuple):
    """One sequence in a decode step; its pages lie one behind the other from `first_page`."""

    ngram: tuple[int, ...]  # the newest token first
    position: int
    first_page: int


@torch.inference_mode()
def prefill(
    model: FusedModel,
    pool: PagePool,
    *,
    tokens: Sequence[int],
    cached: int,
    page_table: Sequence[int],
    before_layer: Callable[[int], None],
    topk: int,
) -> int:
    """Compute tokens[cached:] of one request into its pages; returns the next token.

    `before_layer(layer)` must return only when the pages hold what they should for that layer.
    Dense attention under a mask: at this size cheaper than gathering per token.
    """
    n_tokens, last_layer, device = len(tokens), model.config.n_layers - 1, model.device
    pages = torch.tensor(page_table, device=device)
    positions = torch.arange(cached, n_tokens, device=device)
    ngrams = _ngrams(tokens, cached, model.config.ngram)
    hidden = model.embed(torch.tensor(ngrams, device=device))
    every = torch.arange(n_tokens, device=device)
    every_slot = pages[every // PAGE_TOKENS] * PAGE_TOKENS + every % PAGE_TOKENS
    near, too_near = _window_masks(positions, every, model.config.window)
    for layer in range(model.config.n_layers):
        before_layer(layer)
        projection = model.project(layer, hidden, positions)
        pool.write(layer, every_slot[cached:], projection)
        if layer == last_layer:  # only the last token's output is wanted
            projection = Projection(*(part[-1:] for part in projection))
            hidden, near, too_near = hidden[-1:], near[-1:], too_near[-1:]
        scores = _page_scores(pool, layer, pages, projection, n_tokens)
        allowed = near | _selected(scores.masked_fill_(too_near, _NEVER), topk)
        kv = pool.read_kv(layer, every_slot)  # (N, 2, H, Dh)
        attended = _dense_attention(
            projection.query, kv, allowed, model.layers[layer].attention_scale
        )
        hidden = model.finish_layer(layer, hidden, attended)
    return model.next_tokens(hidden)[0]


@torch.inference_mode()
def decode_step(
    model: FusedModel, pool: PagePool, rows: Sequence[DecodeRow], *, topk: int
) -> list[int]:
    """The next token of every row; stores what the rows' newest tokens add to the caches."""
    window, device = model.config.window, model.device
    positions = torch.tensor([row.position for row in rows], device=device)  # (B,)
    first_slots = torch.tensor([row.first_page for row in rows], device=device) * PAGE_TOKENS
    hidden = model.embed(torch.tensor([row.ngram for row in rows], device=device).t())
    n_scored = max(row.position for row in rows) + 1
    too_near = torch.arange(n_scored, device=device) > (positions - window)[:, None]  # (B, N)
    recent = positions[:, None] - torch.arange(window, device=device)  # (B, W)
    score = _row_scores if device.type == "cpu" else _all_row_scores
    for layer in range(model.config.n_layers):
        projection = model.project(layer, hidden, positions)
        pool.write(layer, first_slots + positions, projection)
        scores = score(pool, layer, rows, projection, n_scored)
        best, chosen = scores.masked_fill_(too_near, _NEVER).topk(min(topk, n_scored), sorted=False)
        allowed = torch.cat([best > _NEVER, recent >= 0], 1)  # (B, S)
        slots = torch.cat([chosen, recent.clamp_min(0)], 1) + first_slots[:, None]
        kv = pool.read_kv(layer, slots.flatten()).view(*slots.shape, 2, *projection.key.shape[1:])
        attended = _gathered_attention(
            projection.query, kv, allowed, model.layers[layer].attention_scale
        )
        hidden = model.finish_layer(layer, hidden, attended)
    return model.next_tokens(hidden)


def _ngrams(tokens: Sequence[int], start: int, ngram: int) -> list[list[int]]:
    """ids of tokens[start:], of the ones before them, ...; NO_TOKEN before the first."""
    padded = [NO_TOKEN] * (ngram - 1) + list(tokens)
    first = start + ngram - 1
    return [padded[first - offset : len(padded) - offset] for offset in range(ngram)]


def _window_masks(positions: Tensor, every: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """(T, N) each: inside the window that is always read; and not open to selection."""
    causal = every <= positions[:, None]
    too_near = every > positions[:, None] - window
    return causal & too_near, too_near


def _page_scores(
    pool: PagePool, layer: int, pages: Tensor, projection: Projection, n_tokens: int
) -> Tensor:
    """Indexer scores of T tokens against the first N tokens of their pages -> (T, N)."""
    n_queries, n_heads, dim = projection.index_query.shape
    queries = projection.index_query.reshape(-1, dim)
    there = pool.index[layer].index_select(0, pages)  # (P, page_bytes)
    if queries.is_cpu:
        dots = torch.empty(n_queries * n_heads, n_tokens)
        pool.index_keys.dot(queries, there, dots)
    else:
        dots = queries @ pool.index_keys.read(there)[:n_tokens].t()
    return _weigh(dots.view(n_queries, n_heads, n_tokens), projection.index_weight)


def _row_scores(
    pool: PagePool, layer: int, rows: Sequence[DecodeRow], projection: Projection, n_scored: int
) -> Tensor:
    """Indexer scores of each row against its own tokens -> (B, N); beyond its length undefined."""
    _, n_heads, _ = projection.index_query.shape
    dots = torch.zeros(len(rows), n_heads, n_scored)
    index = pool.index[layer]
    for row, queries, out in zip(rows, projection.index_query, dots, strict=True):
        n_tokens = row.position + 1
        end_page = row.first_page + -(-n_tokens // PAGE_TOKENS)
        pool.index_keys.dot(queries, index[row.first_page : end_page], out[:, :n_tokens])
    return _weigh(dots, projection.index_weight)


def _all_row_scores(
    pool: PagePool, layer: int, rows: Sequence[DecodeRow], projection: Projection, n_scored: int
) -> Tensor:
    """The same in a few big operations instead of many small ones, as a GPU wants it."""
    first = torch.tensor([row.first_page for row in rows], device=pool.index.device)
    n_pages = -(-n_scored // PAGE_TOKENS)
    pages = first[:, None] + torch.arange(n_pages, device=first.device)  # (B, P)
    keys = pool.index_keys.read(pool.index[layer].index_select(0, pages.flatten()))
    keys = keys.view(len(rows), n_pages * PAGE_TOKENS, -1)[:, :n_scored]  # (B, N, 128)
    dots = torch.bmm(projection.index_query, keys.transpose(1, 2))  # (B, HI, N)
    return _weigh(dots, projection.index_weight)


def _weigh(dots: Tensor, weights: Tensor) -> Tensor:
    """sum over index heads of w * ReLU(q.k): (T, HI, N), (T, HI) -> (T, N)."""
    return torch.bmm(weights[:, None], F.relu_(dots))[:, 0]


def _selected(scores: Tensor, topk: int) -> Tensor:
    """(T, N) scores -> mask of each row's `topk` best among those open to selection."""
    best, chosen = scores.topk(min(topk, scores.shape[1]), sorted=False)
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(1, chosen, best > _NEVER)


def _dense_attention(query: Tensor, kv: Tensor, allowed: Tensor, scale: float) -> Tensor:
    """(T, H, Dh) queries over (N, 2, H, Dh) where (T, N) allows it -> (T, H*Dh)."""
    keys, values = kv[:, 0].transpose(0, 1), kv[:, 1].transpose(0, 1)  # (H, N, Dh) each
    weights = torch.bmm(query.transpose(0, 1), keys.transpose(1, 2)) * scale  # (H, T, N)
    weights = weights.masked_fill_(~allowed, _NEVER).softmax(-1)
    return torch.bmm(weights, values).transpose(0, 1).flatten(1)


def _gathered_attention(query: Tensor, kv: Tensor, allowed: Tensor, scale: float) -> Tensor:
    """(B, H, Dh) queries, each over its own (B, S, 2, H, Dh) tokens -> (B, H*Dh)."""
    keys, values = kv[:, :, 0].transpose(1, 2), kv[:, :, 1].transpose(1, 2)  # (B, H, S, Dh) each
    weights = torch.matmul(query[:, :, None], keys.transpose(2, 3)) * scale  # (B, H, 1, S)
    weights = weights.masked_fill_(~allowed[:, None, None], _NEVER).softmax(-1)
    return torch.matmul(weights, values).flatten(1)
