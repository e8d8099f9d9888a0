"""The tiny model: its shape, its weights on disk, and its arithmetic with fused weights.

Notable: n-gram token input, RMSNorm without gain, QK-norm, RoPE on half of each head, ReLU^2, and
per layer a lightning indexer (2 query heads, one shared key) that scores which tokens attention
may read. It knows nothing of pages and caches: keys and values go out, attended values come in.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from runner.testbed.weight_file import read_weights

WEIGHTS_NAME = "model.safetensors"
WEIGHTS_FOLDER = Path(__file__).with_name("weights")
INDEX_SCORE_SCALE = 0.35
NO_TOKEN = 0


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The shape of the model; `topk` and `window` say what one token may attend to."""

    vocab_size: int = 1269
    d_model: int = 128
    n_layers: int = 2
    n_heads: int = 4
    head_dim: int = 32
    index_heads: int = 2
    index_dim: int = 128
    index_rope_dim: int = 32
    d_ff: int = 384
    ngram: int = 3
    topk: int = 32
    window: int = 8
    max_positions: int = 1024
    rope_theta: float = 2000.0

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes a token takes in one layer: keys and values of all heads in bf16."""
        return 2 * self.n_heads * self.head_dim * 2


class Projection(NamedTuple):
    """What one layer makes of T tokens before it looks at any other token."""

    query: Tensor  # (T, H, Dh)
    key: Tensor  # (T, H, Dh)
    value: Tensor  # (T, H, Dh)
    index_query: Tensor  # (T, HI, DI)
    index_key: Tensor  # (T, DI)
    index_weight: Tensor  # (T, HI)


class FusedLayer(NamedTuple):
    project: Tensor  # (D, 3*H*Dh + HI*DI + DI + HI): qkv and the indexer in one matrix
    out: Tensor  # (H*Dh, D)
    up: Tensor  # (D, FF)
    down: Tensor  # (FF, D)
    attention_scale: float


class FusedModel:
    """Inference weights in fp32, the n-gram projections folded into one table per offset."""

    def __init__(self, config: ModelConfig, tensors: dict[str, Tensor]) -> None:
        weights = {name: tensor.float() for name, tensor in tensors.items()}
        self.config = config
        self.n_bytes = sum(tensor.nbytes for tensor in weights.values())
        embedding = weights["embedding"]
        offsets = weights["ngram"].chunk(config.ngram - 1, dim=1)
        self.token_tables = [
            embedding,
            *(embedding @ part.t() for part in offsets),
        ]  # ngram x (V, D)
        self.layers = [_fuse_layer(config, weights, index) for index in range(config.n_layers)]
        scale = weights["logit_scale"] / config.d_model**0.5
        self.unembed = (weights["out"].t() @ rms_norm(embedding).t() * scale).contiguous()  # (D, V)
        self.device = embedding.device
        self.head_rope = self._rope_table(config.head_dim // 2)
        self.index_rope = self._rope_table(config.index_rope_dim)

    def _rope_table(self, dims: int) -> tuple[Tensor, Tensor]:
        cosines, sines = rope_table(self.config.max_positions, dims, self.config.rope_theta)
        return cosines.to(self.device), sines.to(self.device)

    def embed(self, ngrams: Tensor) -> Tensor:
        """(ngram, T) ids of each token, the one before it, and the one before that -> (T, D)."""
        parts = [table[ids] for table, ids in zip(self.token_tables, ngrams, strict=True)]
        return rms_norm(torch.stack(parts).sum(0))

    def project(self, layer: int, hidden: Tensor, positions: Tensor) -> Projection:
        """(T, D) hidden states at (T,) positions -> the layer's projections, rotated."""
        c, n_tokens = self.config, hidden.shape[0]
        width = c.n_heads * c.head_dim
        index_width = (c.index_heads + 1) * c.index_dim
        mixed = rms_norm(hidden) @ self.layers[layer].project
        query_key, value, indexer, weight = torch.split_with_sizes(
            mixed, [2 * width, width, index_width, c.index_heads], dim=1
        )
        query_key = query_key.view(n_tokens, 2 * c.n_heads, c.head_dim)
        query_key = rotate(rms_norm(query_key), self.head_rope, positions)
        indexer = indexer.view(n_tokens, c.index_heads + 1, c.index_dim)
        indexer = rotate(rms_norm(indexer), self.index_rope, positions)
        return Projection(
            query=query_key[:, : c.n_heads],
            key=query_key[:, c.n_heads :],
            value=value.reshape(n_tokens, c.n_heads, c.head_dim),
            index_query=indexer[:, : c.index_heads],
            index_key=indexer[:, c.index_heads],
            index_weight=(weight + 1) * INDEX_SCORE_SCALE,
        )

    def finish_layer(self, layer: int, hidden: Tensor, attended: Tensor) -> Tensor:
        """Add (T, H*Dh) attended values and the feed-forward part to (T, D) hidden states."""
        weights = self.layers[layer]
        hidden = hidden + attended @ weights.out
        return hidden + F.relu(rms_norm(hidden) @ weights.up).square_() @ weights.down

    def next_tokens(self, hidden: Tensor) -> list[int]:
        """The most likely next token of each of the (T, D) hidden states."""
        best: list[int] = (rms_norm(hidden) @ self.unembed).argmax(-1).tolist()
        return best


def read_config(folder: Path) -> ModelConfig:
    return ModelConfig(**json.loads((folder / "config.json").read_text(encoding="utf-8")))


def load_model(folder: Path = WEIGHTS_FOLDER, *, device: str = "cpu") -> FusedModel:
    """Read `config.json` and `model.safetensors` (fp16) from `folder`, to compute on `device`."""
    weights = read_weights(folder / WEIGHTS_NAME)
    return FusedModel(read_config(folder), {k: v.to(device) for k, v in weights.items()})


def config_json(config: ModelConfig) -> str:
    return json.dumps(asdict(config), indent=2) + "\n"


def rms_norm(values: Tensor) -> Tensor:
    return F.rms_norm(values, (values.shape[-1],))


def rope_table(n_positions: int, dims: int, theta: float) -> tuple[Tensor, Tensor]:
    """Cosines and sines, (n_positions, 1, dims) each; the second half repeats the first."""
    frequencies = theta ** (-torch.arange(0, dims, 2).float() / dims)
    angles = (torch.arange(n_positions).float()[:, None] * frequencies).repeat(1, 2)[:, None]
    return angles.cos(), angles.sin()


def rotate(values: Tensor, table: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
    """RoPE on the first dims of (..., heads, Dh), as many as the table has, at (...) positions."""
    cosines, sines = table[0][positions], table[1][positions]  # (..., 1, dims)
    dims = cosines.shape[-1]
    turned, kept = values[..., :dims], values[..., dims:]
    first, second = turned.chunk(2, dim=-1)
    turned = turned * cosines + torch.cat([-second, first], -1) * sines
    return torch.cat([turned, kept], -1)


def _fuse_layer(config: ModelConfig, weights: dict[str, Tensor], index: int) -> FusedLayer:
    def part(name: str) -> Tensor:
        return weights[f"layers.{index}.{name}"]

    inputs = [part(name) for name in ("qkv", "index_query", "index_key", "index_weight")]
    return FusedLayer(
        project=torch.cat(inputs).t().contiguous(),
        out=part("attention_out").t().contiguous(),
        up=part("up").t().contiguous(),
        down=part("down").t().contiguous(),
        attention_scale=float(weights["query_scale"][index].exp()) / config.head_dim**0.5,
    )
