"""Hosts that a campaign's record names, told by the places where they stand; pure.

A bare name is a host only by its place: the value of a setting, the target of ssh, an address.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

_HOST_NAMES = frozenset(
    {"host", "hostname", "node", "node_name", "node_ip", "node_rank_0_host", "master_addr"}
    | {"dist_init_addr", "bootstrap_host", "advertise_host", "server_name", "machine_name"}
)
_URL = re.compile(r"://(?:[^/\s@]{1,256}@)?([A-Za-z\d][\w.-]{0,252})")
_LOGIN = re.compile(r"(?<![\w.+@/-])[A-Za-z_][\w.-]{0,63}@([A-Za-z\d][\w.-]{0,252})(?![\w@])")
_NAME = re.compile(r"[A-Za-z\d][\w.-]{1,252}")
_SSH_TAKES = re.compile(r"-[bcDEeFIiJLlmOopQRSWw]")
_ANY = frozenset({"0.0.0.0", "localhost", "none", "null", "auto"})
_LEAST = 3


def hosts_in(value: Any) -> Iterator[str]:
    """Of JSON of any shape: facts of a service, commands, the definition of a stack."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            if _is_host_name(str(name)) and isinstance(child, str):
                yield from _name(child)
            yield from hosts_in(child)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from _in_words(value)
        for child in value:
            yield from hosts_in(child)
    elif isinstance(value, str):
        for pattern in (_URL, _LOGIN):
            for match in pattern.finditer(value):
                yield from _name(match[1])


def _in_words(words: Sequence[Any]) -> Iterator[str]:
    """Arguments of a command: `--host X`, `--host=X`, `ssh -o A=B X`."""
    texts = [word if isinstance(word, str) else "" for word in words]
    for word, following in pairwise([*texts, ""]):
        option, equals, value = word.partition("=")
        if option.startswith("--") and _is_host_name(option[2:]):
            yield from _name(value if equals else following)
    for place, word in enumerate(texts):
        if word.rpartition("/")[2] in ("ssh", "scp"):
            yield from _name(_target(texts[place + 1 :]))


def _target(words: Sequence[str]) -> str:
    takes_next = False
    for word in words:
        if takes_next:
            takes_next = False
        elif word.startswith("-"):
            takes_next = _SSH_TAKES.fullmatch(word) is not None
        else:
            return word
    return ""


def _is_host_name(name: str) -> bool:
    return name.lower().replace("-", "_") in _HOST_NAMES


def _name(text: str) -> Iterator[str]:
    """Without a login and a port; nothing where it is no name, or one that names no machine."""
    host = text.rpartition("@")[2].partition(":")[0]
    if len(host) >= _LEAST and host.lower() not in _ANY and _NAME.fullmatch(host):
        yield host
