"""The tiny model as it is trained: whole texts, dense or sparse attention, no caches.

The same arithmetic as `FusedModel`, plus the divergence by which the indexer learns.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from runner.testbed.model import INDEX_SCORE_SCALE, ModelConfig, rms_norm, rope_table, rotate

_NEVER = -1e30


class TrainableLayer(nn.Module):
    """Weights of one layer under their names in the weight file; matrices are (out, in)."""

    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        width = c.n_heads * c.head_dim
        self.qkv = _matrix(3 * width, c.d_model)
        self.index_query = _matrix(c.index_heads * c.index_dim, c.d_model)
        self.index_key = _matrix(c.index_dim, c.d_model)
        self.index_weight = _matrix(c.index_heads, c.d_model)
        self.attention_out = nn.Parameter(torch.zeros(c.d_model, width))
        self.up = _matrix(c.d_ff, c.d_model)
        self.down = nn.Parameter(torch.zeros(c.d_model, c.d_ff))


class TrainableModel(nn.Module):
    """The same arithmetic as `FusedModel`, over whole texts and without caches."""

    head_cosines: Tensor
    head_sines: Tensor
    index_cosines: Tensor
    index_sines: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        d = config.d_model
        self.embedding = nn.Parameter(torch.randn(config.vocab_size, d))
        self.ngram = _matrix(d, (config.ngram - 1) * d)
        self.out = nn.Parameter(nn.init.orthogonal_(torch.empty(d, d)))
        self.logit_scale = nn.Parameter(torch.tensor(1.0))
        self.query_scale = nn.Parameter(torch.full((config.n_layers,), 1.4))
        self.layers = nn.ModuleList(TrainableLayer(config) for _ in range(config.n_layers))
        for kind, dims in (("head", config.head_dim // 2), ("index", config.index_rope_dim)):
            cosines, sines = rope_table(config.max_positions, dims, config.rope_theta)
            self.register_buffer(f"{kind}_cosines", cosines, persistent=False)
            self.register_buffer(f"{kind}_sines", sines, persistent=False)

    def forward(
        self, tokens: Tensor, *, sparse: bool, indexer_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(B, T) tokens -> (B, T, D) hidden states, and the indexer's mean KL over the mask."""
        c, n_tokens = self.config, tokens.shape[1]
        positions = torch.arange(n_tokens, device=tokens.device)
        causal = positions[:, None] >= positions  # (T, T)
        near = causal & (positions[:, None] - positions < c.window)
        hidden = self._embed(tokens)
        divergence = torch.zeros((), device=tokens.device)
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, TrainableLayer)
            normed = rms_norm(hidden)
            scores = self._index_scores(layer, normed.detach(), positions)  # (B, T, T)
            allowed = causal.expand_as(scores)
            if sparse:
                allowed = _select(scores.detach(), causal, near, c.topk)
            weights, values = self._attend(layer, index, normed, positions, allowed)
            if indexer_mask is not None:
                target = weights.detach().mean(1)
                divergence = divergence + _divergence(target, scores, allowed, indexer_mask)
            attended = torch.einsum("bhts,bshd->bthd", weights, values).flatten(2)
            hidden = hidden + attended @ layer.attention_out.t()
            hidden = hidden + F.relu(rms_norm(hidden) @ layer.up.t()) ** 2 @ layer.down.t()
        return hidden, divergence

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., D) -> (..., V), the embedding tied through a square matrix."""
        scale = self.logit_scale / self.config.d_model**0.5
        return torch.mul(rms_norm(hidden) @ self.out.t() @ rms_norm(self.embedding).t(), scale)

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded = self.embedding[tokens]  # (B, T, D)
        n_tokens = embedded.shape[1]
        earlier = [
            F.pad(embedded, (0, 0, offset, 0))[:, :n_tokens]
            for offset in range(1, self.config.ngram)
        ]
        return rms_norm(embedded + torch.cat(earlier, -1) @ self.ngram.t())

    def _index_scores(self, layer: TrainableLayer, normed: Tensor, positions: Tensor) -> Tensor:
        c = self.config
        table = (self.index_cosines, self.index_sines)
        shape = normed.shape[:2]
        query = (normed @ layer.index_query.t()).view(*shape, c.index_heads, c.index_dim)
        key = (normed @ layer.index_key.t()).view(*shape, 1, c.index_dim)
        query = rotate(rms_norm(query), table, positions)
        key = rotate(rms_norm(key), table, positions)[..., 0, :]
        weight = normed @ layer.index_weight.t() + 1  # (B, T, HI)
        dots = F.relu(torch.einsum("bthd,bsd->bths", query, key) * INDEX_SCORE_SCALE)
        return torch.einsum("bths,bth->bts", dots, weight)

    def _attend(
        self,
        layer: TrainableLayer,
        index: int,
        normed: Tensor,
        positions: Tensor,
        allowed: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Attention weights (B, H, T, T) and values (B, T, H, Dh)."""
        c = self.config
        table = (self.head_cosines, self.head_sines)
        qkv = (normed @ layer.qkv.t()).view(*normed.shape[:2], 3, c.n_heads, c.head_dim)
        query, key, values = qkv.unbind(2)
        query = rotate(rms_norm(query), table, positions)
        key = rotate(rms_norm(key), table, positions)
        scale = self.query_scale[index].exp() / c.head_dim**0.5
        scores = torch.einsum("bthd,bshd->bhts", query, key) * scale
        return scores.masked_fill(~allowed[:, None], _NEVER).softmax(-1), values


def _matrix(n_out: int, n_in: int) -> nn.Parameter:
    """Uniform in +-1/sqrt(n_in), as torch's linear layers start."""
    return nn.Parameter((torch.rand(n_out, n_in) * 2 - 1) / n_in**0.5)


def _select(scores: Tensor, causal: Tensor, near: Tensor, topk: int) -> Tensor:
    """(B, T, T) mask: the window, and the top k of what lies before it."""
    open_scores = scores.masked_fill(~causal | near, _NEVER)
    k = min(topk, scores.shape[-1])
    threshold = open_scores.topk(k, -1).values[..., -1:]
    return (open_scores >= threshold) & causal | near


def _divergence(target: Tensor, scores: Tensor, allowed: Tensor, mask: Tensor) -> Tensor:
    """Mean KL(target || softmax(scores)) over the (B, T) `mask`, among `allowed` (B, T, T)."""
    log_scores = scores.masked_fill(~allowed, _NEVER).log_softmax(-1).clamp_min(-60)
    per_token = (target * ((target + 1e-9).log() - log_scores)).sum(-1)
    return (per_token * mask).sum() / mask.sum()
