"""How often the model is wrong, and what stands beside the count."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch

from runner.testbed.evaluation import main
from runner.testbed.model import WEIGHTS_FOLDER, WEIGHTS_NAME
from runner.testbed.provenance import current_commit
from runner.testbed.trainable_model import load_trainable
from runner.testbed.training import save_weights

SMALL = ["--sessions", "4", "--first-prompt", "130", "--device", "cpu"]


def test_a_count_stands_beside_what_makes_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "counts.json"

    status = main([*SMALL, "--index-k-dtype", "fp8", "bf16", "--json", str(file)])

    body = json.loads(file.read_text(encoding="utf-8"))
    weights = (WEIGHTS_FOLDER / WEIGHTS_NAME).read_bytes()
    assert status == 0
    assert body["device"] == "cpu"
    assert body["torch"] == torch.__version__
    assert body["seeds"] == ["held out"]
    assert body["command"][:3] == ["decisive", "testbed", "evaluate"]
    assert body["weights_sha256"] == hashlib.sha256(weights).hexdigest()
    assert [(row["index_k_dtype"], row["sessions"]) for row in body["results"]] == [
        ("fp8", 4),
        ("bf16", 4),
    ]
    assert capsys.readouterr().out.count("of 4 sessions wrong") == 2


def test_a_model_that_cannot_look_back_is_wrong_in_every_session(tmp_path: Path) -> None:
    model = load_trainable(WEIGHTS_FOLDER, "cpu")
    for layer in model.layers:
        torch.nn.init.zeros_(layer.attention_out)
    save_weights(model, tmp_path)
    file = tmp_path / "counts.json"

    main([*SMALL, "--weights", str(tmp_path), "--json", str(file), "--commit", "abc"])

    body = json.loads(file.read_text(encoding="utf-8"))
    (row,) = body["results"]
    assert body["commit"] == "abc"
    assert row["wrong_sessions"] == row["sessions"] == 4
    assert row["wrong_tokens"] >= len(row["examples"]) == 20


def test_outside_of_a_repository_no_commit_is_known(tmp_path: Path) -> None:
    assert current_commit(tmp_path) is None
