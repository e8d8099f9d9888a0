"""What a measured figure needs beside it to be made again: command, code, machine, seeds."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

_GIT_DEADLINE_S = 30.0


def provenance(
    command: Sequence[str], *, device: str, seeds: Sequence[int | str], commit: str | None = None
) -> dict[str, Any]:
    """`commit`: of the code, where it does not lie in a repository that can be asked."""
    return {
        "command": list(command),
        "commit": commit or current_commit(Path(__file__).parent),
        "device": torch.cuda.get_device_name() if device.startswith("cuda") else device,
        "torch": torch.__version__,
        "seeds": list(seeds),
    }


def current_commit(folder: Path) -> str | None:
    """The commit that is checked out there, with `+` if files were changed; None if unknown."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        is_changed = bool(_git(folder, "status", "--porcelain", "--", "."))
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}+" if is_changed else commit


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _git(folder: Path, *words: str) -> str:
    command = ("git", "-C", str(folder), *words)
    ended = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=_GIT_DEADLINE_S
    )
    return ended.stdout.strip()
