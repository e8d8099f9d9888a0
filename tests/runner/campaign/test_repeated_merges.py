"""A small file can stand for merges without end; it is refused instead of being followed."""

import pytest

from runner.campaign.yaml_source import parse_yaml
from runner.errors import ConfigError

GENERATIONS = 9


def merged(times: int) -> str:
    lines = ["a0: &a0 {k: 1}"]
    for generation in range(1, GENERATIONS + 1):
        sources = ", ".join([f"*a{generation - 1}"] * times)
        lines.append(f"a{generation}: &a{generation} {{<<: [{sources}]}}")
    return "\n".join(lines)


def test_merges_that_repeat_one_another_without_end_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^bomb\.yaml:1:5: more than 50,000 merges are too many"):
        parse_yaml("bomb.yaml", merged(10))


def test_merges_of_merges_are_read() -> None:
    source = parse_yaml("plain.yaml", merged(1))

    assert source.data[f"a{GENERATIONS}"] == {"k": 1}
