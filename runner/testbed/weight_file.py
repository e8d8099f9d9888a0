"""Weights on disk in the safetensors format, read and written with torch alone.

Eight bytes of length, a JSON header with dtype, shape and place of each tensor, then the bytes.
(https://github.com/huggingface/safetensors#format)
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_DTYPES = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def read_weights(path: Path) -> dict[str, Tensor]:
    """Raises ValueError when it is no such file, KeyError for a dtype that is not a float's."""
    data = bytearray(path.read_bytes())
    if len(data) < 8:
        raise ValueError(f"{path} is not a safetensors file")
    (header_bytes,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + header_bytes])
    body = memoryview(data)[8 + header_bytes :]
    return {name: _read(body, entry) for name, entry in header.items() if name != "__metadata__"}


def write_weights(path: Path, tensors: Mapping[str, Tensor]) -> None:
    header, parts, offset = {}, [], 0
    for name, tensor in sorted(tensors.items()):
        raw = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + raw.numel()],
        }
        parts.append(bytes(raw.tolist()))
        offset += raw.numel()
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + b"".join(parts))


def _read(body: memoryview, entry: Mapping[str, Any]) -> Tensor:
    start, end = entry["data_offsets"]
    flat = torch.frombuffer(body[start:end], dtype=_DTYPES[entry["dtype"]])
    return flat.reshape(entry["shape"])
