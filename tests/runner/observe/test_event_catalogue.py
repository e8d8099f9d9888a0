"""The catalogue as files: what they may say, and what of a pattern makes it fast."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigError
from runner.observe.event_catalogue import load_catalogue
from runner.observe.pattern_literals import required_literals
from tests.runner.observe.catalogue import CATALOGUE

ENTRY = """
family: mine
events:
  - id: my_event
    class: {event_class}
    patterns: ['{pattern}']
    means: Something.
    does_not_mean: Something else.
    source: me
"""


def _load(tmp_path: Path, *, pattern: str = "it went wrong", event_class: str = "wedge") -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(ENTRY.format(pattern=pattern, event_class=event_class), "utf-8")
    load_catalogue([path])


def test_a_catalogue_of_ones_own_is_read(tmp_path: Path) -> None:
    _load(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "event_class", "said"),
    [
        ("(open", "wedge", "is no regular expression"),
        ("short", "wedge", "without 7 fixed characters"),
        ("a good one|bad", "wedge", "without 7 fixed characters"),
        ("(?i)it went wrong", "wedge", "must not ignore the case"),
        ("it went wrong", "dreadful", "dreadful"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, pattern: str, event_class: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=rf"mine\.yaml:\d+:\d+: .*{re.escape(said)}"):
        _load(tmp_path, pattern=pattern, event_class=event_class)


def test_no_catalogue_at_all_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"events/\*\.yaml"):
        load_catalogue([])


@given(st.data())
def test_whatever_a_pattern_matches_holds_one_of_its_texts(data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(CATALOGUE.patterns))
    text = data.draw(st.from_regex(entry.text.replace("(?P<", "(?P<"), fullmatch=True))

    assert any(literal in text for literal in required_literals(entry.text))
