"""From the nodes of one YAML document to plain data and the places of its keys and values."""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from runner.campaign.config_problems import Place, Problem, shown

Scalar: TypeAlias = str | int | float | bool | None
PlainData: TypeAlias = "Scalar | tuple[PlainData, ...] | dict[object, PlainData]"
KeyPath: TypeAlias = tuple[str, ...]  # mapping keys and list indexes, all as text

# An alias may be repeated, so that a small file stands for a huge tree.
MAX_VALUES = 50_000

_TAG = "tag:yaml.org,2002:"
_WORD_TAGS = {f"{_TAG}str", f"{_TAG}timestamp"}
_NUMBER_TAGS = {f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool", f"{_TAG}null"}


class _Entry(NamedTuple):
    key_node: ScalarNode
    value_node: Node
    is_merged: bool


class ValueReading:
    """One walk over a document; `problems` says what in it has no meaning as data."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.keys: dict[KeyPath, Place] = {}
        self.values: dict[KeyPath, Place] = {}
        self._open_nodes: set[int] = set()
        self._merged = 0

    def value_of(self, node: Node, path: KeyPath) -> PlainData:
        self.values[path] = _place_of(node)
        if len(self.values) > MAX_VALUES:
            self._too_many(node)
            return None
        if isinstance(node, ScalarNode):
            return self._scalar_of(node)
        if id(node) in self._open_nodes:
            self._refuse(node, "an alias cannot stand inside what it names")
            return None
        self._open_nodes.add(id(node))
        value = self._list_of(node, path) if isinstance(node, SequenceNode) else None
        if isinstance(node, MappingNode):
            value = self._mapping_of(node, path)
        self._open_nodes.discard(id(node))
        return value

    def _list_of(self, node: SequenceNode, path: KeyPath) -> PlainData:
        self._check_tag(node, f"{_TAG}seq")
        children = enumerate(node.value)
        return tuple(self.value_of(child, (*path, str(index))) for index, child in children)

    def _mapping_of(self, node: MappingNode, path: KeyPath) -> PlainData:
        self._check_tag(node, f"{_TAG}map")
        own: dict[object, PlainData] = {}
        merged: dict[object, PlainData] = {}
        for entry in self._entries_of(node):
            key = self._scalar_of(entry.key_node)
            if key is None:
                self._refuse(entry.key_node, "a key must be a word or a number")
            elif key in own and not entry.is_merged:
                self._refuse(entry.key_node, "the key stands here for the second time", key)
            elif key not in own and not (entry.is_merged and key in merged):
                self.keys[(*path, str(key))] = _place_of(entry.key_node)
                target = merged if entry.is_merged else own
                target[key] = self.value_of(entry.value_node, (*path, str(key)))
        return own | merged

    def _entries_of(self, node: MappingNode) -> Iterator[_Entry]:
        """The mapping's own entries, then those that `<<` merges into it, which give way."""
        merge_nodes: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == f"{_TAG}merge":
                merge_nodes.append(value_node)
            elif isinstance(key_node, ScalarNode):
                yield _Entry(key_node, value_node, False)
            else:
                self._refuse(key_node, "a key must be a word or a number")
        for merge_node in merge_nodes:
            yield from self._merged_entries_of(merge_node)

    def _merged_entries_of(self, node: Node) -> Iterator[_Entry]:
        sources = node.value if isinstance(node, SequenceNode) else [node]
        for source in sources:
            if not isinstance(source, MappingNode):
                self._refuse(source, "<< merges mappings only")
            elif id(source) in self._open_nodes:
                self._refuse(source, "an alias cannot stand inside what it names")
            elif self._may_merge(source):
                self._open_nodes.add(id(source))
                yield from (entry._replace(is_merged=True) for entry in self._entries_of(source))
                self._open_nodes.discard(id(source))

    def _may_merge(self, source: Node) -> bool:
        """Merges that repeat one another make no values, and still take for ever."""
        self._merged += 1
        if self._merged == MAX_VALUES + 1:
            self._refuse(source, f"more than {MAX_VALUES:,} merges are too many to be meant")
        return self._merged <= MAX_VALUES

    def _scalar_of(self, node: ScalarNode) -> Scalar:
        tag = str(node.tag)
        if tag in _NUMBER_TAGS:
            return _number_of(tag.removeprefix(_TAG), node.value)
        if tag not in _WORD_TAGS:
            self._check_tag(node, f"{_TAG}str")
        return str(node.value)

    def _check_tag(self, node: Node, expected: str) -> None:
        if str(node.tag) != expected:
            self._refuse(node, "a tag has no meaning here", str(node.tag).replace(_TAG, "!!"))

    def _refuse(self, node: Node, what: str, found: object | None = None) -> None:
        found_text = None if found is None else shown(found)
        self.problems.append(Problem(_place_of(node), what, found_text))

    def _too_many(self, node: Node) -> None:
        if len(self.values) == MAX_VALUES + 1:
            self._refuse(node, f"more than {MAX_VALUES:,} values are too many to be meant")


def _number_of(kind: str, text: str) -> Scalar:
    """The value of a plain scalar; text that only YAML 1.1 would read as one stays a word."""
    try:
        if kind == "int":
            return _integer_of(text.replace("_", ""))
        if kind == "float":
            bare = text.replace("_", "").lower()
            return float(bare.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text
    if kind == "null":
        return None
    return {"true": True, "false": False}.get(text.lower(), text)


def _integer_of(text: str) -> int:
    is_prefixed = text.lstrip("+-")[:2].lower() in ("0x", "0o", "0b")
    return int(text, 0 if is_prefixed else 10)


def _place_of(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
