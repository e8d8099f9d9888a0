"""Plays the arms of the causal table and writes it: `python -m runner.testbed causal`.

Sessions are scripted and played against the engine in process, several seeds an arm, everything as
JSON; the Markdown table is made of that JSON alone (`--table FILE`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from runner.testbed.causal_arms import (
    CONTROLS,
    DEVICE_CONTROLS,
    DEVICE_FAULTS,
    FAULTS,
    SIZES,
    Control,
    Fault,
    Size,
    launch_options,
)
from runner.testbed.closed_loop import ClosedLoop
from runner.testbed.device_speed import measure_speed
from runner.testbed.model import WEIGHTS_FOLDER, WEIGHTS_NAME, FusedModel, load_model
from runner.testbed.provenance import provenance, sha256_of
from runner.testbed.scripted_dialogues import draw_dialogues
from runner.testbed.vocabulary import load_vocabulary

Cell = dict[str, Any]


def play(
    model: FusedModel, size: Size, fault: Fault, control: Control, *, seed: int, device: str
) -> Cell:
    """One arm with one seed: how its sessions ended, and what the engine did to its bytes."""
    n_sessions = control.sessions or size.sessions
    options = launch_options(size, fault, control, device)
    loop = ClosedLoop(
        model,
        options,
        concurrency=control.concurrency or size.concurrency,
        dialogues=draw_dialogues(
            load_vocabulary(), n_sessions, seed=seed, first_prompt=size.first_prompt
        ),
        seed=seed,
        patience_s=size.patience_s,
        stream=control.stream,
    )
    started_s = time.perf_counter()
    tally = loop.run()
    seconds = time.perf_counter() - started_s
    return {
        "fault": fault.name,
        "control": control.name,
        "concurrency": control.concurrency or size.concurrency,
        "seed": seed,
        "sessions": n_sessions,
        "corrupt": tally.outcomes["corrupt"],
        "error": tally.outcomes["error"],
        "wrong_turns": dict(tally.wrong_turns),
        "host_tokens": tally.host_tokens,
        "load_back_bytes": _sum_of(loop, "load_back_bytes_total"),
        "load_back_seconds": round(_sum_of(loop, "load_back_duration_seconds_sum"), 6),
        "audit": {name: count for name, count in tally.audit.items() if count},
        "steps": tally.steps,
        "tokens": tally.decoded_tokens,
        "seconds": round(seconds, 2),
    }


def _sum_of(loop: ClosedLoop, name: str) -> float:
    lines = loop.registry.exposition().splitlines()
    samples = (line for line in lines if line.startswith(f"sglang:{name}{{"))
    return sum(float(line.rsplit(" ", 1)[1]) for line in samples)


def merged_cells(recordings: Sequence[dict[str, Any]]) -> list[Cell]:
    """Cells of several recordings of one size, by seed; of a cell played twice, the later one."""
    cells: dict[tuple[str, str, int], Cell] = {}
    for recorded in recordings:
        for cell in recorded["cells"]:
            cells[cell["fault"], cell["control"], cell["seed"]] = cell
    return sorted(cells.values(), key=lambda cell: cell["seed"])


def markdown(cells: Sequence[Cell]) -> str:
    """A row per fault, a column per control: corrupt of all, per seed; and what the audit saw."""
    controls = _in_order([cell["control"] for cell in cells], [each.name for each in CONTROLS])
    faults = _in_order(
        [cell["fault"] for cell in cells], [each.name for each in (*DEVICE_FAULTS, *FAULTS)]
    )
    head = ["fault", *controls, "first differ at", "races lost", "broken markup"]
    rows = [head, ["---"] * len(head)]
    for fault in faults:
        own = [cell for cell in cells if cell["fault"] == fault]
        plain = [cell for cell in own if cell["control"] == controls[0]]
        per_control = (
            _counts([cell for cell in own if cell["control"] == control]) for control in controls
        )
        rows.append([fault, *per_control, _places(plain), _races(plain), _markup_share(plain)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _in_order(names: Sequence[str], order: Sequence[str]) -> list[str]:
    """Each name once: those of the catalogue as it has them, any other after them."""
    found = list(dict.fromkeys(names))
    return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


def _counts(cells: Sequence[Cell]) -> str:
    """`21/17/20 of 80`, and the errors where there were any."""
    if not cells:
        return ""
    text = f"{'/'.join(str(cell['corrupt']) for cell in cells)} of {cells[0]['sessions']}"
    if any(cell["error"] for cell in cells):
        text += f", errors {'/'.join(str(cell['error']) for cell in cells)}"
    return text


def _places(cells: Sequence[Cell]) -> str:
    if not any(name.startswith("audited") for cell in cells for name in cell["audit"]):
        return "not audited"
    found = [
        where
        for where in ("host", "device", "decode")
        if any(cell["audit"].get(f"differing_index_pages_{where}") for cell in cells)
    ]
    return ", ".join(found) or "nowhere"


def _races(cells: Sequence[Cell]) -> str:
    lost = sum(cell["audit"].get("races_lost", 0) for cell in cells)
    loads = sum(cell["audit"].get("load_backs", 0) for cell in cells)
    return f"{lost:.0f} layers of {loads:.0f} load-backs" if loads else "no load-back"


def _markup_share(cells: Sequence[Cell]) -> str:
    broken = sum(cell["wrong_turns"].get("broken markup", 0) for cell in cells)
    corrupt = sum(cell["corrupt"] for cell in cells)
    return f"{broken} of {corrupt}" if corrupt else ""


def arms(
    device: str, faults_named: Sequence[str], controls: Sequence[str]
) -> Iterator[tuple[Fault, Control]]:
    """All faults under all controls, or those that are named."""
    faults, known = (FAULTS, CONTROLS) if device == "cpu" else (DEVICE_FAULTS, DEVICE_CONTROLS)
    chosen = [control for control in known if not controls or control.name in controls]
    wanted = [fault for fault in faults if not faults_named or fault.name in faults_named]
    return ((fault, control) for fault in wanted for control in chosen)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m runner.testbed causal", description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--size", nargs="+", choices=[*SIZES], default=["small"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--faults", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--controls", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--commit", help="of the code, where it lies in no repository")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="a JSON file a size goes there")
    parser.add_argument("--json", action="store_true", help="print the JSON, not the tables")
    parser.add_argument(
        "--table", type=Path, nargs="+", metavar="FILE", help="only print the table of these files"
    )
    parser.add_argument("--budget-s", type=float, default=float("inf"), help="stop in time")
    arguments = parser.parse_args(argv)
    if arguments.table is not None:
        recordings = [json.loads(path.read_text(encoding="utf-8")) for path in arguments.table]
        sys.stdout.write(markdown(merged_cells(recordings)))
        return 0
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch sees no CUDA device here")
    torch.set_num_threads(1)
    ends_s = time.monotonic() + arguments.budget_s
    command = ["python", "-m", "runner.testbed", "causal", *argv]
    model = load_model(device=arguments.device)
    speed = measure_speed(model) if arguments.device == "cuda" else None
    for name in arguments.size:
        recorded = provenance(
            command, device=arguments.device, seeds=arguments.seeds, commit=arguments.commit
        )
        weights = sha256_of(WEIGHTS_FOLDER / WEIGHTS_NAME)
        recorded |= {"weights_sha256": weights, "size": name, "speed": speed}
        recorded |= {"is_complete": False, "cells": []}
        for fault, control in arms(arguments.device, arguments.faults, arguments.controls):
            for seed in arguments.seeds:
                if time.monotonic() > ends_s:
                    break
                cell = play(model, SIZES[name], fault, control, seed=seed, device=arguments.device)
                recorded["cells"].append(cell)
                sys.stderr.write(f"{name}: {_sentence(cell)}\n")
                _write(recorded, arguments.out, f"causal-{arguments.device}-{name}.json")
        recorded["is_complete"] = time.monotonic() <= ends_s
        _write(recorded, arguments.out, f"causal-{arguments.device}-{name}.json")
        text = json.dumps(recorded) + "\n" if arguments.json else markdown(recorded["cells"])
        sys.stdout.write(text)
        sys.stdout.flush()
    return 0


def _sentence(cell: Cell) -> str:
    return (
        f"{cell['fault']}, {cell['control']}, seed {cell['seed']}: {cell['corrupt']} corrupt, "
        f"{cell['error']} errors of {cell['sessions']}, {cell['seconds']} s"
    )


def _write(recorded: dict[str, Any], folder: Path | None, name: str) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(recorded, indent=1, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
