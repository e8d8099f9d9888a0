"""The causal table: its arms are launches, its Markdown is made of recorded cells alone."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from runner.testbed.causal_arms import CONTROLS, FAULTS, SIZES, launch_options
from runner.testbed.causal_table import main, markdown, merged_cells
from runner.testbed.model import WEIGHTS_FOLDER, WEIGHTS_NAME
from runner.testbed.provenance import sha256_of

MEASURED = Path(__file__).parents[3] / "runner" / "testbed" / "measured"
README = (MEASURED.parent / "README.md").read_text(encoding="utf-8")


def cell(seed: int, corrupt: int, **other: Any) -> dict[str, Any]:
    defaults = {
        "fault": "F1",
        "control": "as it is",
        "sessions": 40,
        "error": 0,
        "wrong_turns": {"broken markup": 1, "unknown tool": corrupt - 1} if corrupt else {},
        "audit": {"load_backs": 10, "differing_index_pages_host": 5, "audited_index_pages_host": 9},
    }
    return {**defaults, "seed": seed, "corrupt": corrupt, **other}


def test_a_row_has_the_counts_of_every_seed_and_what_the_audit_saw() -> None:
    cells = [cell(0, 7), cell(1, 9), cell(0, 0, control="k = all", error=2)]

    *_, row = markdown(cells).splitlines()

    assert row == (
        "| F1 | 7/9 of 40 | 0 of 40, errors 2 | host | 0 layers of 20 load-backs | 2 of 16 |"
    )


def test_of_a_cell_that_was_played_twice_the_later_one_counts() -> None:
    merged = merged_cells([{"cells": [cell(1, 9), cell(0, 7)]}, {"cells": [cell(0, 8)]}])

    assert [each["corrupt"] for each in merged] == [8, 9]


@pytest.mark.parametrize(("size", "device"), [*product(SIZES, ["cpu", "cuda"])])
def test_every_arm_differs_from_the_intact_one_by_its_fault(size: str, device: str) -> None:
    intact = launch_options(SIZES[size], FAULTS[0], CONTROLS[0], device)

    options = [launch_options(SIZES[size], fault, CONTROLS[0], device) for fault in FAULTS]

    assert options[0] == intact
    assert len(set(map(repr, options))) == len(FAULTS)


@pytest.mark.parametrize(
    "pattern",
    ["causal-h200-c80.json", "causal-h200-c500/*.json", "causal-cpu-small.json"],
    ids=["GPU, C = 80", "GPU, C = 500", "CPU"],
)
def test_the_page_shows_the_tables_that_the_recordings_make(
    pattern: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--table", *(str(path) for path in sorted(MEASURED.glob(pattern)))]) == 0

    assert capsys.readouterr().out in README


def test_rows_and_columns_stand_in_the_order_of_the_arms_whatever_was_played_first() -> None:
    played = [
        cell(0, 1, fault="F1 and F2", control="k = all"),
        cell(0, 2, fault="none", control="as it is"),
    ]

    head, _, first, second = markdown(played).splitlines()

    assert head.startswith("| fault | as it is | k = all |")
    assert (first[:8], second[:13]) == ("| none |", "| F1 and F2 |")


def test_every_recording_says_how_it_was_made_and_with_the_weights_that_are_shipped() -> None:
    shipped = sha256_of(WEIGHTS_FOLDER / WEIGHTS_NAME)
    paths = [*MEASURED.glob("causal-*.json"), *MEASURED.glob("causal-*/*.json")]
    assert len(paths) == 11
    for path in paths:
        recorded = json.loads(path.read_text(encoding="utf-8"))
        assert recorded["device"] and recorded["torch"] and recorded["command"], path.name
        assert len(recorded["commit"].rstrip("+")) == 40
        assert recorded["weights_sha256"] == shipped, path.name


ONLY_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"starlette", "uvicorn", "aiohttp", "httpx", "typer", "yaml"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import runner.testbed.causal_table, runner.testbed.unified_engine, runner.testbed.closed_loop
"""


def test_engine_and_drive_loop_need_torch_and_the_standard_library_alone() -> None:
    root = MEASURED.parents[2]

    done = subprocess.run([sys.executable, "-c", ONLY_TORCH], cwd=root, capture_output=True)

    assert done.returncode == 0, done.stderr.decode()


def test_a_machine_without_cuda_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has one")

    with pytest.raises(SystemExit):
        main(["--device", "cuda"])

    assert "torch sees no CUDA device here" in capsys.readouterr().err
