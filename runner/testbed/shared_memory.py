"""Memory that two processes of one machine have in common, as torch tensors.

It knows bytes and where another process finds them; what lies in them is the pools' matter.
"""

from __future__ import annotations

import atexit
import mmap
import os
import tempfile
from pathlib import Path

import torch
from torch import Tensor


class SharedBlock:
    """Zeroed memory, to be opened by others at `path` as long as this process lives."""

    def __init__(self, n_bytes: int) -> None:
        descriptor, self.path = _create()
        os.ftruncate(descriptor, n_bytes)
        self.tensor = _mapped(descriptor, n_bytes)


def open_shared(path: str, n_bytes: int) -> Tensor:
    """Another process's block. Raises OSError when there is none of that size."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        if os.fstat(descriptor).st_size != n_bytes:
            raise OSError(f"{path} is not a block of {n_bytes} bytes")
        return _mapped(descriptor, n_bytes)
    finally:
        os.close(descriptor)


def _create() -> tuple[int, str]:
    """Nameless memory where the system has it, which no crash leaves behind; else a file."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("testbed-decode-pool")
        return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}"
    descriptor, path = tempfile.mkstemp(prefix="testbed-decode-pool-")
    atexit.register(Path(path).unlink, missing_ok=True)
    return descriptor, path


def _mapped(descriptor: int, n_bytes: int) -> Tensor:
    return torch.frombuffer(mmap.mmap(descriptor, n_bytes), dtype=torch.uint8)
