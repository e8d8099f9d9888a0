"""What servers and logs say reaches a terminal without its control characters."""

import json

import pytest
from rich.table import Table
from rich.text import Text

from runner.cli.console import result_console, say, say_json, tell

HOSTILE = "a\x1b[2J\x9b31m\x07\u202eb\ud83d"


def test_lines_name_the_control_characters_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    tell(HOSTILE)

    told = capsys.readouterr()
    assert told.out == told.err == "a\\u001b[2J\\u009b31m\\u0007\\u202eb\\ud83d\n"


def test_json_says_the_same_value_without_a_control_character(
    capsys: pytest.CaptureFixture[str],
) -> None:
    value = {"line": "a\x1b[2J\x9b31m\u202eb\U000e0001 é 漢", "list": ["\x7f"]}

    say_json(value)

    written = capsys.readouterr().out
    assert json.loads(written) == value
    assert not set("\x1b\x9b\u202e\U000e0001\x7f") & set(written)
    assert "é 漢" in written


def test_a_table_names_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("heading")
    table.add_row(Text("a\x1b[2J\x9b31m\u202eb"))

    result_console().print(table)

    assert "a\\u001b[2J\\u009b31m\\u202eb" in capsys.readouterr().out
