"""Joins the fragments of streamed tool calls, also where index, id or name are not as they should.

Clients and servers disagree about what identifies a call: the rules here find the calls that were
meant, and name each departure from the protocol as a fault.
"""

from dataclasses import dataclass, field

from runner.judge.assembled_message import AssembledCall
from runner.judge.flags import Flag
from runner.judge.json_values import NOT_JSON, Json, dump_json, parse_json


@dataclass(frozen=True, slots=True)
class CallFragment:
    """One entry of a delta's `tool_calls`; "" and None where it says nothing."""

    index: int | None
    id: str
    name: str
    arguments: str
    has_object_arguments: bool


def read_fragment(entry: Json) -> CallFragment | None:
    """None for what is no entry at all."""
    if not isinstance(entry, dict):
        return None
    function = entry.get("function")
    fields = function if isinstance(function, dict) else {}
    arguments = fields.get("arguments")
    is_object = arguments is not None and not isinstance(arguments, str)
    return CallFragment(
        index=_index(entry.get("index")),
        id=_text(entry.get("id")),
        name=_text(fields.get("name")),
        arguments=dump_json(arguments) if is_object else _text(arguments),
        has_object_arguments=is_object,
    )


class CallJoiner:
    """Takes the `tool_calls` lists of one choice in the order in which they came."""

    def __init__(self) -> None:
        self.faults: list[Flag] = []
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}
        self._by_id: dict[str, _OpenCall] = {}
        self._group_start = 0

    def add_fragments(self, entries: list[Json]) -> None:
        """One delta's list."""
        fragments = [fragment for entry in entries if (fragment := read_fragment(entry))]
        calls_before = len(self._calls)
        touched: list[_OpenCall] = []
        for position, fragment in enumerate(fragments):
            if fragment.index is None:
                self._note(Flag.INDEX_MISSING)
                place = position if len(fragments) > 1 else None
                call = self._call_without_index(fragment, place)
            else:
                call = self._call_by_index(fragment, fragment.index, touched)
            self._extend(call, fragment)
            touched.append(call)
        if len(self._calls) > calls_before:
            self._group_start = calls_before

    def add_whole_calls(self, entries: list[Json]) -> None:
        """A finished message's list: each entry is one call."""
        for entry in entries:
            fragment = read_fragment(entry)
            if fragment is not None:
                self._extend(self._open(), fragment)

    def joined(self) -> tuple[AssembledCall, ...]:
        return tuple(call.assembled() for call in self._calls)

    def _call_by_index(
        self, fragment: CallFragment, index: int, touched: list["_OpenCall"]
    ) -> "_OpenCall":
        known = self._by_index.get(index)
        if known is None:
            call = self._call_at_new_index(fragment)
        elif _starts_another(known, fragment, is_touched=known in touched):
            self._note(Flag.INDEX_REUSE)
            call = self._open()
        else:
            if fragment.id and known.ids and fragment.id not in known.ids:
                self._note(Flag.ID_DRIFT)
            call = known
        self._by_index[index] = call
        return call

    def _call_at_new_index(self, fragment: CallFragment) -> "_OpenCall":
        same_id = self._by_id.get(fragment.id) if fragment.id else None
        if same_id is not None:
            goes_on = same_id.arguments or not fragment.name
            if goes_on and not same_id.is_complete():
                self._note(Flag.INDEX_DRIFT)
                return same_id
            self._note(Flag.ID_REUSE)
            return self._open()
        continues = fragment.arguments and not fragment.name
        if continues and self._calls and not self._calls[-1].is_complete():
            self._note(Flag.INDEX_DRIFT)
            return self._calls[-1]
        return self._open()

    def _call_without_index(self, fragment: CallFragment, place: int | None) -> "_OpenCall":
        same_id = self._by_id.get(fragment.id) if fragment.id else None
        if same_id is not None:
            return same_id
        last = self._calls[-1] if self._calls else None
        if last is None:
            return self._open()
        if fragment.name:
            repeats = not fragment.id and fragment.name == last.name and last.arguments != []
            return last if repeats and place is None and not last.is_complete() else self._open()
        if fragment.id:
            if last.is_complete():
                return self._open()
            self._note(Flag.ID_DRIFT)
            return last
        if place is not None and self._group_start + place < len(self._calls):
            return self._calls[self._group_start + place]
        return last

    def _open(self) -> "_OpenCall":
        call = _OpenCall()
        self._calls.append(call)
        return call

    def _extend(self, call: "_OpenCall", fragment: CallFragment) -> None:
        if fragment.id:
            call.ids.setdefault(fragment.id)
            self._by_id.setdefault(fragment.id, call)
        if fragment.name:
            self._take_name(call, fragment.name)
        if fragment.arguments:
            call.arguments.append(fragment.arguments)
        call.has_object_arguments |= fragment.has_object_arguments

    def _take_name(self, call: "_OpenCall", name: str) -> None:
        if not call.name:
            call.name = name
        elif name == call.name:
            self._note(Flag.NAME_REPEATED)
        elif name.startswith(call.name):
            call.name = name
            self._note(Flag.NAME_IN_PIECES)
        elif not call.arguments:
            call.name += name
            self._note(Flag.NAME_IN_PIECES)
        else:
            self._note(Flag.NAME_CHANGED)

    def _note(self, fault: Flag) -> None:
        if fault not in self.faults:
            self.faults.append(fault)


@dataclass(slots=True, eq=False)
class _OpenCall:
    name: str = ""
    ids: dict[str, None] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    has_object_arguments: bool = False

    def is_complete(self) -> bool:
        """Whether the arguments so far are a whole JSON value."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith(("}", "]", '"')):
            return False
        self.arguments = ["".join(self.arguments)]
        return parse_json(self.arguments[0]) is not NOT_JSON

    def assembled(self) -> AssembledCall:
        return AssembledCall(
            name=self.name,
            arguments="".join(self.arguments),
            id=next(iter(self.ids), ""),
            has_object_arguments=self.has_object_arguments,
        )


def _starts_another(known: _OpenCall, fragment: CallFragment, *, is_touched: bool) -> bool:
    """Whether a fragment under the index of `known` is the start of another call."""
    if not fragment.name:
        return False
    is_new_id = bool(fragment.id and known.ids) and fragment.id not in known.ids
    if is_new_id:
        both_empty = not known.arguments and not fragment.arguments
        other_name = fragment.name != known.name and not fragment.name.startswith(known.name)
        return is_touched or both_empty or other_name or known.is_complete()
    same_id = bool(fragment.id and known.ids)
    if is_touched and not same_id:
        return True
    is_other = fragment.name != known.name or fragment.arguments.lstrip().startswith("{")
    return not same_id and is_other and known.is_complete()


def _index(value: Json) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 9:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
