"""The targets of the fuzzer hold for what it begins with, and for what it once found."""

from pathlib import Path

import pytest

from tests.fuzz.__main__ import TARGET_NAMES
from tests.fuzz.seeds import write_dictionary, write_seeds
from tests.fuzz.targets import TARGETS


def test_every_target_can_be_named() -> None:
    assert tuple(TARGETS) == TARGET_NAMES


@pytest.mark.parametrize("name", TARGET_NAMES)
def test_a_target_holds_for_its_seeds(name: str, tmp_path: Path) -> None:
    write_seeds(name, tmp_path)
    seeds = sorted(tmp_path.iterdir())

    for seed in seeds[:: len(seeds) // 12]:
        TARGETS[name](seed.read_bytes())

    assert len(seeds) >= 90


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("service_log", b'{"message":"x","timestamp":1' + b"0" * 400 + b"}"),
        ("service_log", b'{"message":"x","timestamp":NaN}'),
        ("service_log", b'{"MESSAGE":' + b"[" * 900 + b'"x"' + b"]" * 900 + b"}"),
        ("service_log", b'{"log":"x","stream":"s"}\n' * 300),
        ("metrics_page", b'sglang:num_running_reqs{dp_rank="0"} 1e308\n' * 3),
    ],
)
def test_what_once_broke_a_promise_holds(name: str, body: bytes) -> None:
    TARGETS[name](b"\x07" + body)


def test_the_dictionary_is_ascii_with_a_quoted_word_a_line(tmp_path: Path) -> None:
    write_dictionary(tmp_path / "words.dict")

    lines = (tmp_path / "words.dict").read_text("ascii").splitlines()
    assert len(lines) > 100
    assert all(line[0] == line[-1] == '"' and len(line) > 2 for line in lines)
