"""A mistake is named where it was made, and no secret is repeated in a message."""

import pytest

from runner.errors import ConfigError
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled, stack

CANARY = "hunter2-canary"


def _error(text: str, *, of_stack: bool = False) -> str:
    with pytest.raises(ConfigError) as raised:
        (stack if of_stack else campaign)(text)
    return str(raised.value)


def test_a_slip_where_a_factor_is_declared_blames_that_line_alone() -> None:
    (line,) = _error(spoiled(CAMPAIGN, "  keys: [fp8", "  key: [fp8")).splitlines()

    assert line == (
        "file.yaml:5:3: all other lines of the file call this factor otherwise; found key; "
        "allowed: keys; did you mean keys?"
    )


def test_a_slip_where_a_factor_is_used_blames_that_use() -> None:
    said = _error(spoiled(CAMPAIGN, "baseline: {keys: bf16", "baseline: {key: bf16"))

    assert "unknown factor; found key; allowed: keys" in said
    assert "call this factor otherwise" not in said


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("base_url", "127.0.0.1:30000", "base_url must be http://HOST:PORT or https://"),
        ("base_url", "http://127.0.0.1:30000/", "base_url must be http://HOST:PORT or https://"),
        ("server_info", "server_info", "server_info must be a path that begins with /"),
        ("health", "/he alth", "health must be a path that begins with /"),
    ],
)
def test_a_place_that_is_none_is_explained_as_one(key: str, value: str, said: str) -> None:
    text = (
        "stack: s\ndescription: d\nmodel: m\nservices:\n  server:\n    controller: external\n"
        f"    {key}: '{value}'\n"
    )

    assert said in _error(text, of_stack=True)


def test_a_password_in_a_stack_file_is_refused_and_not_repeated() -> None:
    text = (
        "stack: s\ndescription: d\nmodel: m\nservices:\n  server:\n    controller: external\n"
        f"    base_url: http://user:{CANARY}@host:30000\n"
    )

    said = _error(text, of_stack=True)

    assert "without a password" in said
    assert CANARY not in said
