"""YAML as people write it, with the place of every mistake."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.campaign.config_problems import Place
from runner.campaign.yaml_source import MAX_FILE_BYTES, parse_yaml, read_yaml
from runner.errors import ConfigError
from tests.runner.campaign.files import written


def test_words_of_yaml_1_1_stay_words() -> None:
    source = parse_yaml("f", "a: [on, off, yes, no, y, 1:30, 2026-01-01]")

    assert source.data["a"] == ("on", "off", "yes", "no", "y", "1:30", "2026-01-01")


def test_a_version_line_does_not_bring_yaml_1_1_back() -> None:
    assert parse_yaml("f", "%YAML 1.1\n---\na: [on, 1:30]\n").data == {"a": ("on", "1:30")}


def test_plain_numbers_booleans_and_nothing_have_their_types() -> None:
    source = parse_yaml("f", "a: [8, -3, 010, 0x1f, 1_000, 0.5, 1e3, .inf, true, False, ~, '8']")

    expected = (8, -3, 10, 31, 1000, 0.5, 1000.0, float("inf"), True, False, None, "8")
    assert source.data["a"] == expected
    assert [type(value) for value in source.data["a"]] == [type(value) for value in expected]


def test_places_are_counted_from_one_and_in_characters() -> None:
    source = parse_yaml("f", "é: {ü: [x, yy]}\nb:\n  c: 'q'\n")

    assert source.place_of_key(("é", "ü")) == Place(1, 5)
    assert source.place_of_value(("é", "ü", "1")) == Place(1, 12)
    assert source.place_of_value(("b", "c")) == Place(3, 6)
    assert source.place_in_text(("b", "c"), 0) == Place(3, 7)
    assert source.place_of_value(("b", "d", "e")) == Place(3, 3)


def test_aliases_and_merges_work_and_own_keys_win() -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b {x: 3, z: 4}\nc:\n  <<: [*a, *b]\n  y: 5\n"

    assert parse_yaml("f", text).data["c"] == {"y": 5, "x": 1, "z": 4}


def test_an_anchor_may_be_used_again() -> None:
    assert parse_yaml("f", "a: &x 1\nb: &x 2\nc: *x\n").data == {"a": 1, "b": 2, "c": 2}


def test_a_byte_order_mark_and_windows_line_ends_are_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")

    assert read_yaml(path).data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "f:1:1: the file is empty"),
        ("# nothing but this\n", "f:1:1: the file is empty"),
        ("- a\n", "f:1:1: the file must be a mapping, that is lines of `key: value`"),
        ("a:\n\tb: 1\n", "f:2:1: a tab cannot indent: use spaces"),
        ("a: 1\n---\nb: 2\n", "f:2:1: a file holds one document: remove the line ---"),
        ("a: [1,\n", "f:2:1: expected the node content, but found '<stream end>'"),
        ("a: b: c\n", "f:1:5: mapping values are not allowed here"),
        ("a: *nobody\n", "f:1:4: found undefined alias 'nobody'"),
        ("a: 1\nb: 2\na: 3\n", "f:3:1: the key stands here for the second time; found a"),
        ("a: é\nb: \x01\n", "f:2:4: a control character cannot stand in the file"),
        ("a: !python/object 1\n", "f:1:4: a tag has no meaning here; found !python/object"),
        ("a: !!set {b}\n", "f:1:4: a tag has no meaning here; found !!set"),
        ("? [a]\n: 1\n", "f:1:3: a key must be a word or a number"),
        ("~: 1\n", "f:1:1: a key must be a word or a number"),
        ("a: &a [*a]\n", "f:1:4: an alias cannot stand inside what it names"),
        ("a: &a {<<: *a}\n", "f:1:4: an alias cannot stand inside what it names"),
        ("a: {<<: 3}\n", "f:1:9: << merges mappings only"),
    ],
)
def test_what_cannot_be_meant_is_said_with_its_place(text: str, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_yaml("f", text)

    assert str(raised.value) == error


def test_all_duplicate_keys_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_yaml("f", "a: {x: 1, x: 2}\nb: 1\nb: 2\n")

    assert [line.split(" ")[0] for line in str(raised.value).splitlines()] == ["f:1:11:", "f:3:1:"]


def test_bytes_that_are_not_utf8_are_named_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes("a: 1\nü: ".encode() + b"\xff\n")

    with pytest.raises(ConfigError, match=r"f\.yaml:2:4: the file is not UTF-8; found byte 0xff"):
        read_yaml(path)


def test_a_file_too_large_to_be_meant_is_not_parsed(tmp_path: Path) -> None:
    path = written(tmp_path, "#" * (MAX_FILE_BYTES + 1))

    with pytest.raises(ConfigError, match="more than 256,000 bytes"):
        read_yaml(path)


def test_a_file_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)


def test_aliases_that_stand_for_a_huge_tree_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]

    with pytest.raises(ConfigError, match="more than 50,000 values"):
        parse_yaml("f", "\n".join(lines))


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(ConfigError, match="nested too deeply"):
        parse_yaml("f", "[" * 500)


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*<!|>?#'\"%@\n\t 01.~é,"), max_size=60))
def test_any_text_is_read_or_refused_as_a_config_error(text: str) -> None:
    try:
        source = parse_yaml("f", text)
    except ConfigError as error:
        assert str(error).startswith("f:")
    else:
        assert isinstance(source.data, dict)
