"""What is taken out of a report before it leaves the house: keys, hosts, prompts.

Keys that a stack file names never enter the store; those here are told by their shape. Prompts are
not looked for in text: who writes them down asks `hides_prompts` and writes a substitute.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

TAKEN_OUT = "[key taken out]"


class Redacted(StrEnum):
    """`keys`: what looks like a secret. `hosts`: names, addresses, logins, folders, the build of a
    kernel. `prompts`: what the client sent, and of the answers all but the markup that leaked.
    """

    KEYS = "keys"
    HOSTS = "hosts"
    PROMPTS = "prompts"


_KEY_NAME = (
    r"(?:(?:proxy-)?authorization|x-api-key|[a-z_-]*api[-_]?key|[a-z_-]*(?:secret|password)"
    r"|[a-z_-]*(?:access|auth|hf|hub|bearer)[-_]token)"
)
_NAMED_KEY = re.compile(
    rf"""(?ix)
    ( \b{_KEY_NAME} \\?["']? \s* [:=] \s* \\?["']? | --{_KEY_NAME} [\s"',]+ (?:-\ +["']?)? )
    ( (?:(?:bearer|basic)\s+)? )
    ( (?!bearer\b|basic\b|\[key\ taken) [^\s"',;}}\\]{{6,}} )
    """
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)([\w.~+/=-]{8,})")
_SHAPED_KEY = re.compile(
    r"\b(?:sk-|hf_|gh[opsu]_|github_pat_|glpat-|nvapi-|xox[abp]-|AKIA|AIza)[\w-]{12,}"
)
_URL_USER = re.compile(r"(?<=://)[^/\s:@]{1,256}:[^/\s@]{1,256}@")

_URL_HOST = re.compile(r"(?<=://)(\[[0-9a-fA-F:.]+\]|[\w.-]+)")
_LOGIN = re.compile(
    r"(?<![\w.+@-])(?<!\w/)[A-Za-z_][\w.-]{0,63}@([A-Za-z\d][\w.-]{0,252}\w)(?![\w@])"
)
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_IPV6 = re.compile(r"(?<![\w:])(?=:*[\da-fA-F])[\da-fA-F]{0,4}(?::[\da-fA-F]{0,4}){3,7}(?![\w:])")
_FOLDERS = re.compile(
    r"(?<![\w.:/])/(?:home|Users|root|tmp|var|opt|mnt|data|srv|usr|private|workspace|scratch)"
    r"(?:/[\w.+@-]+)*/([\w.+@-]+)"
)
_KERNEL_BUILD = re.compile(r"(?<=Linux )(\d+\.\d+(?:\.\d+)?)-[\w.+-]+")
_LOOPBACK = re.compile(r"127(?:\.\d+){3}|0\.0\.0\.0|localhost|\[?::1?\]?")


class Redactor:
    """One for all parts of one report, so that one host has one number in all of them.

    `hosts` are names that the record knows; they are numbered first, in their order. How a name is
    written, large or small, tells no host from another.
    """

    def __init__(self, kinds: Iterable[Redacted], *, hosts: Iterable[str] = ()) -> None:
        self._kinds = frozenset(kinds)
        self._numbers: dict[str, int] = {}
        known = [host for host in dict.fromkeys(hosts) if _is_telling(host)]
        for host in known:
            self._host(host)
        longest_first = sorted(known, key=len, reverse=True)
        names = "|".join(re.escape(host) for host in longest_first)
        self._known = re.compile(rf"(?i)(?<![\w.-])(?:{names})(?![\w-])") if names else None

    @property
    def kinds(self) -> tuple[Redacted, ...]:
        """In the order of their definition."""
        return tuple(kind for kind in Redacted if kind in self._kinds)

    @property
    def hides_prompts(self) -> bool:
        return Redacted.PROMPTS in self._kinds

    def __call__(self, text: str) -> str:
        if Redacted.KEYS in self._kinds:
            text = _without_keys(text)
        return self._without_hosts(text) if Redacted.HOSTS in self._kinds else text

    def _without_hosts(self, text: str) -> str:
        text = _LOGIN.sub(lambda match: self._host(match[1]), text)
        for pattern in (_URL_HOST, _IPV4, _IPV6):
            text = pattern.sub(lambda match: self._host(match[0]), text)
        if self._known is not None:
            text = self._known.sub(lambda match: self._host(match[0]), text)
        text = _FOLDERS.sub(lambda match: f"/.../{match[1]}", text)
        return _KERNEL_BUILD.sub(lambda match: match[1], text)

    def _host(self, name: str) -> str:
        if not _is_telling(name) or re.fullmatch(r"host-\d+", name):
            return name
        return f"host-{self._numbers.setdefault(name.lower(), len(self._numbers) + 1)}"


def hidden_text(text: str) -> str:
    """What stands for a text that is not shown. A digest would let short ones be guessed."""
    return f"[{len(text):,} characters]"


def _is_telling(host: str) -> bool:
    return bool(host.strip()) and _LOOPBACK.fullmatch(host) is None


def _without_keys(text: str) -> str:
    text = _URL_USER.sub(f"{TAKEN_OUT}@", text)
    text = _NAMED_KEY.sub(rf"\g<1>\g<2>{TAKEN_OUT}", text)
    text = _BEARER.sub(rf"\g<1>{TAKEN_OUT}", text)
    return _SHAPED_KEY.sub(TAKEN_OUT, text)
