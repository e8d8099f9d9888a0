"""The tiny model as it is trained: whole texts, dense or sparse attention, no caches.

The same arithmetic as `FusedModel`, plus the divergence by which the indexer learns. The last layer
is computed for the wanted tokens only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from runner.testbed.model import (
    INDEX_SCORE_SCALE,
    WEIGHTS_NAME,
    ModelConfig,
    read_config,
    rms_norm,
    rope_table,
    rotate,
)
from runner.testbed.weight_file import read_weights

_NEVER = -1e30


class Wanted(NamedTuple):
    """Which tokens of (B, T) texts the last layer is computed for, R of each at most."""

    positions: Tensor  # (B, R)
    is_real: Tensor  # (B, R): False where a text has fewer


def wanted_tokens(mask: Tensor) -> Wanted:
    """The True places of a (B, T) mask."""
    width = int(mask.sum(1).max())
    positions = (~mask).int().argsort(dim=1, stable=True)[:, :width]
    return Wanted(positions, mask.gather(1, positions))


class _Asked(NamedTuple):
    """The tokens that a layer is computed for, out of all that it may read."""

    positions: Tensor  # (B, R)
    inputs: Tensor  # (B, R, D), normed


@dataclass(frozen=True, slots=True)
class StoredForm:
    """What the caches make of keys and values (`kv`) and of index keys, (..., D) each."""

    kv: Callable[[Tensor], Tensor]
    index_key: Callable[[Tensor], Tensor]


EXACT = StoredForm(lambda values: values, lambda keys: keys)


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
    """`sparse` attention reads the window and the indexer's top k, dense attention everything."""

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
        self,
        tokens: Tensor,
        wanted: Wanted,
        *,
        sparse: bool,
        indexer_mask: Tensor | None = None,
        stored: StoredForm = EXACT,
    ) -> tuple[Tensor, Tensor]:
        """(B, T) tokens -> (B, R, D) hidden states of the wanted ones, and the indexer's KL.

        The KL is the mean over `indexer_mask` (B, T) in all layers but the last, where it is the
        mean over the wanted tokens. Without a mask it is not computed.
        """
        c, n_texts = self.config, tokens.shape[0]
        every = torch.arange(tokens.shape[1], device=tokens.device).expand(n_texts, -1)  # (B, T)
        hidden = self._embed(tokens)
        divergence = torch.zeros((), device=tokens.device)
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, TrainableLayer)
            source, mask = rms_norm(hidden), indexer_mask
            asked = _Asked(every, source)
            if index == c.n_layers - 1:
                mask = None if indexer_mask is None else wanted.is_real.float()
                hidden = _rows(hidden, wanted.positions)
                asked = _Asked(wanted.positions, _rows(source, wanted.positions))
            scores = self._index_scores(layer, source, asked, stored)  # (B, R, T)
            allowed = self._allowed(scores.detach(), asked.positions, sparse=sparse)
            weights, values = self._attend(layer, index, source, asked, allowed, stored)
            if mask is not None:
                divergence = divergence + _divergence(
                    weights.detach().mean(1), scores, allowed, mask
                )
            attended = torch.einsum("bhrs,bshd->brhd", weights, values).flatten(2)
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

    def _index_scores(
        self, layer: TrainableLayer, source: Tensor, asked: _Asked, stored: StoredForm
    ) -> Tensor:
        """Scores (B, R, T) of the asked tokens against all; no gradient leaves the indexer."""
        c, n_texts = self.config, source.shape[0]
        table = (self.index_cosines, self.index_sines)
        every = torch.arange(source.shape[1], device=source.device)
        source, asking = source.detach(), asked.inputs.detach()
        query = (asking @ layer.index_query.t()).view(n_texts, -1, c.index_heads, c.index_dim)
        query = rotate(rms_norm(query), table, asked.positions) * INDEX_SCORE_SCALE
        key = (source @ layer.index_key.t()).view(n_texts, -1, 1, c.index_dim)
        key = stored.index_key(rotate(rms_norm(key), table, every)[..., 0, :])
        weight = asking @ layer.index_weight.t() + 1  # (B, R, HI)
        dots = F.relu(torch.einsum("brhd,bsd->brhs", query, key), inplace=True)
        return torch.einsum("brhs,brh->brs", dots, weight)

    def _allowed(self, scores: Tensor, positions: Tensor, *, sparse: bool) -> Tensor:
        """(B, R, T) mask: all that came before, or the window and the top k of what precedes it."""
        distance = positions[:, :, None] - torch.arange(scores.shape[-1], device=scores.device)
        causal = distance >= 0
        if not sparse:
            return causal
        near = causal & (distance < self.config.window)
        open_scores = scores.masked_fill(~causal | near, _NEVER)
        k = min(self.config.topk, scores.shape[-1])
        threshold = open_scores.topk(k, -1).values[..., -1:]
        return (open_scores >= threshold) & causal | near

    def _attend(
        self,
        layer: TrainableLayer,
        index: int,
        source: Tensor,
        asked: _Asked,
        allowed: Tensor,
        stored: StoredForm,
    ) -> tuple[Tensor, Tensor]:
        """Attention weights (B, H, R, T) and values (B, T, H, Dh)."""
        c, n_texts = self.config, source.shape[0]
        table = (self.head_cosines, self.head_sines)
        every = torch.arange(source.shape[1], device=source.device)
        width = c.n_heads * c.head_dim
        shape = (n_texts, -1, c.n_heads, c.head_dim)
        query = (asked.inputs @ layer.qkv[:width].t()).view(shape)
        key, values = (source @ layer.qkv[width:].t()).chunk(2, -1)
        scale = self.query_scale[index].exp() / c.head_dim**0.5
        query = rotate(rms_norm(query), table, asked.positions) * scale
        key = stored.kv(rotate(rms_norm(key.view(shape)), table, every))
        scores = torch.einsum("brhd,bshd->bhrs", query, key)
        weights = scores.masked_fill_(~allowed[:, None], _NEVER).softmax(-1)
        return weights, stored.kv(values.view(shape))


def load_trainable(folder: Path, device: str) -> TrainableModel:
    """The model as it was saved, on this device, for evaluation."""
    model = TrainableModel(read_config(folder))
    model.load_state_dict({k: v.float() for k, v in read_weights(folder / WEIGHTS_NAME).items()})
    return model.to(device).eval()


def _matrix(n_out: int, n_in: int) -> nn.Parameter:
    """Uniform in +-1/sqrt(n_in), as torch's linear layers start."""
    return nn.Parameter((torch.rand(n_out, n_in) * 2 - 1) / n_in**0.5)


def _rows(values: Tensor, positions: Tensor) -> Tensor:
    """(B, T, D) at (B, R) positions -> (B, R, D)."""
    return values.gather(1, positions[:, :, None].expand(-1, -1, values.shape[2]))


def _divergence(target: Tensor, scores: Tensor, allowed: Tensor, mask: Tensor) -> Tensor:
    """Mean KL(target || softmax(scores)) over the (B, R) `mask`, among `allowed` (B, R, T)."""
    log_scores = scores.masked_fill(~allowed, _NEVER).log_softmax(-1).clamp_min(-60)
    per_token = (target * ((target + 1e-9).log() - log_scores)).sum(-1)
    return (per_token * mask).sum() / mask.sum()
