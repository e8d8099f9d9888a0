"""A YAML 1.2 file as plain data, together with where each value stands; knows no key's meaning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node
from ruamel.yaml.reader import ReaderError

from runner.campaign.config_problems import Place, Problem, raise_problems
from runner.campaign.yaml_values import KeyPath, PlainData, ValueReading
from runner.errors import ConfigError

MAX_FILE_BYTES = 256_000


@dataclass(frozen=True, slots=True)
class YamlSource:
    """What a file says, and where."""

    path: str
    text: str
    data: dict[object, PlainData]
    keys: Mapping[KeyPath, Place]
    values: Mapping[KeyPath, Place]

    def place_of_value(self, path: KeyPath) -> Place:
        """Where the value at `path` starts; where there is none, its nearest parent."""
        while path not in self.values:
            path = path[:-1]
        return self.values[path]

    def place_of_key(self, path: KeyPath) -> Place:
        """Where the key at `path` stands, or the entry of a list; else its nearest parent."""
        while path not in self.keys and path not in self.values:
            path = path[:-1]
        return self.keys.get(path) or self.values[path]

    def place_in_text(self, path: KeyPath, offset: int) -> Place:
        """Where the character `offset` of the one-line text at `path` stands."""
        line, column = self.place_of_value(path)
        is_quoted = self.text.split("\n")[line - 1][column - 1] in "'\""
        return Place(line, column + offset + is_quoted)

    def value_at(self, path: KeyPath) -> PlainData:
        """The value at `path`. Raises KeyError where there is none."""
        value: PlainData = self.data
        for part in path:
            value = dict(_children(value))[part]
        return value


def read_yaml(path: Path) -> YamlSource:
    """Raises ConfigError for a file that cannot be read or that is no mapping in YAML."""
    return parse_yaml(str(path), _read_text(path))


def parse_yaml(path: str, text: str) -> YamlSource:
    """As `read_yaml`, from text; `path` only names the file in errors."""
    root = _compose(path, text)
    if root is None:
        raise ConfigError(f"{path}:1:1: the file is empty")
    reading = ValueReading()
    data = reading.value_of(root, ())
    raise_problems(path, reading.problems)
    if not isinstance(data, dict):
        raise ConfigError(f"{path}:1:1: the file must be a mapping, that is lines of `key: value`")
    return YamlSource(path, text, data, reading.keys, reading.values)


def _children(value: PlainData) -> Iterator[tuple[str, PlainData]]:
    if isinstance(value, dict):
        yield from ((str(key), child) for key, child in value.items())
    elif isinstance(value, tuple):
        yield from ((str(index), child) for index, child in enumerate(value))


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(content) > MAX_FILE_BYTES:
        raise ConfigError(f"{path}: more than {MAX_FILE_BYTES:,} bytes are too many to be meant")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_of_byte(content, error.start)
        problem = Problem(place, "the file is not UTF-8", f"byte 0x{content[error.start]:02x}")
        raise ConfigError(problem.sentence(str(path))) from error


def _place_of_byte(content: bytes, offset: int) -> Place:
    line_start = content.rfind(b"\n", 0, offset) + 1
    column = len(content[line_start:offset].decode("utf-8", "replace")) + 1
    return Place(content.count(b"\n", 0, offset) + 1, column)


def _compose(path: str, text: str) -> Node | None:
    """The node tree, which alone keeps duplicate keys and the places of keys and values."""
    yaml = YAML(typ="rt", pure=True)
    yaml.composer.warn_double_anchors = False
    try:
        node: Node | None = yaml.compose(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: is nested too deeply to be meant") from error
    except MarkedYAMLError as error:
        raise ConfigError(_syntax_problem(error).sentence(path)) from error
    except ReaderError as error:
        place = _place_of_byte(text.encode(), len(text[: error.position].encode()))
        problem = Problem(place, "a control character cannot stand in the file")
        raise ConfigError(problem.sentence(path)) from error
    except YAMLError as error:
        raise ConfigError(f"{path}: is no YAML: {error}") from error
    return node


def _syntax_problem(error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark is not None else Place(1, 1)
    what = str(error.problem or error.context or "the YAML cannot be read")
    if r"'\t'" in what:
        return Problem(place, "a tab cannot indent: use spaces")
    if what == "but found another document":
        return Problem(place, "a file holds one document: remove the line ---")
    return Problem(place, what)
